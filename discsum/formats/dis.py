"""dis: the lisp form of RST-DT, also GUM's `lisp_binary`.

`( Nucleus (span 1 2) (rel2par span) …)` is a constituent, `( Satellite (leaf 3) (rel2par List) (text _!…_!) )`
an EDU. The satellite has the relation, or every nucleus if there are several.

Reading takes binary and n-ary trees and makes them binary by `_constituents.assemble`; a satellite between two nuclei
joins the one before it. RST-DT's mark `<P>` ends a paragraph, `//TT_ERR` is dropped. If the numbers of a span disagree
with its leaves, the leaves decide. A file may hold several trees. Writing restores brackets of several children that
were read; other brackets have two. Texts are written as by `_plain_text`; `_!` or `<P>` in an EDU gets a word joiner
(U+2060) inside it, which reading removes. The format has no probabilities.
"""

from __future__ import annotations

from discsum.format_registry import FORMATS, Format
from discsum.formats._dis_reading import loads, loads_all
from discsum.formats._dis_writing import dumps

FORMATS.register("dis", Format(dumps, loads, loads_all=loads_all, takes=("brackets",)))
