"""rs4: rs3 with eRST, as written by rstWeb; only the primary tree is read and written."""

from __future__ import annotations

from discsum.format_registry import FORMATS, Format
from discsum.formats.rs3 import dumps, loads

FORMATS.register("rs4", Format(dumps, loads))
