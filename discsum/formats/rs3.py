"""rs3 and rs4: the XML of RSTTool and rstWeb.

A `<segment>` is an EDU, a `<group>` a span or a multinuclear constituent; each names its parent and its relation to it.
The nucleus of a span group has the relation `span`; a satellite's parent is its nucleus; the nuclei of a multinuclear
group have the group's relation. An element without a parent is unattached: a heading, or one of several roots.

Reading makes n-ary constituents binary by `_constituents.assemble`, and joins several roots by `_roots`. Writing
restores the constituents and roots of the file. In other trees, every binary node gets a group, and nuclei that branch
to the right under one relation share one multinuclear group. Groups around a single child are left out. Texts are
written as by `_plain_text`; the format has no probabilities.
"""

from __future__ import annotations

from discsum.format_registry import FORMATS, Format
from discsum.formats._rs3_reading import loads
from discsum.formats._rs3_writing import dumps

FORMATS.register("rs3", Format(dumps, loads, takes=("bytes", "roots")))
