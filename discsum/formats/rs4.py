"""rs4: rs3 with eRST, as written by rstWeb: the tree, secondary edges and signals (`discsum.erst`)."""

from __future__ import annotations

from functools import partial

from discsum.format_registry import FORMATS, Format
from discsum.formats._rs3_reading import loads
from discsum.formats._rs3_writing import dumps

FORMATS.register("rs4", Format(partial(dumps, erst=True), loads, takes=("bytes", "roots")))
