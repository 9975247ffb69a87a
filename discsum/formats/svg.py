"""svg: a drawing of the tree, one EDU a row, the root at the left.

Every boundary between two EDUs belongs to exactly one binary node, the one that splits there, and only the bars of its
ancestors cross it, further left. So the node's relation is written on the boundary, right of its bar, and nothing
overlaps at any depth and length.

A nucleus is on a thick straight line, so that following the line from the root leads to the most nuclear EDU. A
satellite's branch is thin, with an arrow to its nucleus. Several nuclei share a thick bar.

`data-edu` and `data-node` name the EDU or constituent of an element, so that a page can fold it.
"""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass
from functools import cache
from xml.sax.saxutils import escape

from discsum.document import Document
from discsum.format_registry import FORMATS, Format
from discsum.formats._constituents import Constituent, constituents
from discsum.formats._plain_text import printable
from discsum.tree import RSTTree

# All lengths are pixels.
MARGIN = 24
LINE_HEIGHT = 17
BOUNDARY_HEIGHT = 20
TEXT_WIDTH, MINIMAL_TEXT_WIDTH = 560, 300
NUMBER_WIDTH = 34
# Width of a level; in a deep tree it is reduced so that all levels fit into MAXIMAL_TREE_WIDTH.
LEVEL_WIDTH = 22
MINIMAL_LEVEL_WIDTH = 5
MAXIMAL_TREE_WIDTH = 640
CORNER = 6
# Between a bar and the relations right of it.
LABEL_GAP = 6
# Estimated width of a character in the 13 px font of the texts.
NARROW, WIDE, CAPITAL = 6.9, 13.2, 9.2

_STYLE = """
text { font-family: Helvetica, Arial, "DejaVu Sans", sans-serif; font-size: 13px; fill: #1c2733 }
text { unicode-bidi: plaintext }
.number { font-size: 10px; fill: #5a6672; text-anchor: end }
.minor { fill: #52606d }
.relation { font-size: 10.5px; paint-order: stroke; stroke: #ffffff; stroke-width: 3px }
.relation.s { fill: #b4470f } .relation.n { fill: #1d5fa8 }
path { fill: none; stroke-linecap: round; stroke-linejoin: round }
.nucleus { stroke: #1f3a5f; stroke-width: 2.6 }
.multi { stroke: #1d5fa8; stroke-width: 2.6 }
.satellite { stroke: #d9722e; stroke-width: 1.3 }
.leader { stroke: #cbd2d9; stroke-width: 1; stroke-dasharray: 1 4 }
.head { fill: #d9722e; stroke: none }
"""


@dataclass(frozen=True, slots=True)
class Drawing:
    """A drawing's elements, and the coordinates that a page needs to fold it.

    Attributes:
        width: Width of the drawing in pixels, as all coordinates.
        height: Height of the drawing.
        elements: SVG elements in the order of painting, without a style.
        inner: The constituents in pre-order; an element's `data-node` is an index into them.
        tops: `edus + 1` upper edges of the EDUs' rows; the last one is the end of the last row.
        lines: The y coordinate of every constituent's line, at which the branch to it ends.
    """

    width: float
    height: float
    elements: list[str]
    inner: list[Constituent]
    tops: list[float]
    lines: list[float]


@dataclass(frozen=True, slots=True)
class _Layout:
    """Coordinates of the rows of the EDUs and the bars of the constituents."""

    lines: list[list[str]]  # the wrapped text of every EDU
    tops: list[float]  # upper edge of every EDU's row; one more for the end of the last
    x: list[float]  # left end of every EDU's branch; x of every constituent's bar
    y: list[float]  # the line of every EDU and constituent
    text_x: list[float]  # where every EDU's text begins


def dumps(document: Document) -> str:
    """Return a drawing of the document's tree as a standalone SVG file.

    Raises:
        InputError: The document has no tree.
    """
    drawing = draw(document)
    width, height = f"{drawing.width:.0f}", f"{drawing.height:.0f}"
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
        f'viewBox="0 0 {width} {height}" role="img">',
        f"<title>{escape(printable(document.id) or 'Discourse tree')}</title>",
        f"<style>{_STYLE}</style>",
        '<rect width="100%" height="100%" fill="#ffffff"/>',
        *drawing.elements,
    ]
    return "\n".join([*parts, "</svg>", ""])


def draw(document: Document) -> Drawing:
    """Return the drawing of the document's tree.

    Raises:
        InputError: The document has no tree.
    """
    tree = document.require_tree("svg")
    inner = constituents(tree)
    layout = _lay_out(tree, inner, [printable(text) for text in document.edu_texts])
    nucleus = tree.nucleus[1].tolist()
    elements = [*_branches(tree, inner, layout), *_relations(tree, inner, layout)]
    for edu, (lines, top, x) in enumerate(zip(layout.lines, layout.tops, layout.text_x, strict=False)):
        kind, y = "" if nucleus[edu] else ' class="minor"', top + LINE_HEIGHT - 4
        elements.append(f'<text class="number" data-edu="{edu}" x="{x - 7:.1f}" y="{y - 0.5:.1f}">{edu + 1}</text>')
        for line, text in enumerate(lines):
            place = f'x="{x:.1f}" y="{y + line * LINE_HEIGHT:.1f}"'
            elements.append(f'<text{kind} data-edu="{edu}" {place}>{escape(text)}</text>')
    ends = [
        x + max(MINIMAL_TEXT_WIDTH, *map(_width, lines)) for x, lines in zip(layout.text_x, layout.lines, strict=True)
    ]
    for item, bar in zip(inner, layout.x[tree.edus :], strict=True):
        ends.append(bar + LABEL_GAP + _width(printable(item.relation)))
    width, height = round(max(ends) + MARGIN, 3), layout.tops[-1] + MARGIN
    return Drawing(width, height, elements, inner, layout.tops, layout.y[tree.edus :])


def _lay_out(tree: RSTTree, inner: list[Constituent], texts: list[str]) -> _Layout:
    lines = [_wrap(text) for text in texts]
    tops = [float(MARGIN)]
    for wrapped in lines:
        tops.append(tops[-1] + len(wrapped) * LINE_HEIGHT + BOUNDARY_HEIGHT)
    tops[-1] -= BOUNDARY_HEIGHT
    level = [0] * (tree.edus + len(inner))
    for index, item in enumerate(inner, start=tree.edus):
        for child in item.children:
            level[child] = level[index] + 1
    deepest = max(level)
    step = min(LEVEL_WIDTH, max(MINIMAL_LEVEL_WIDTH, MAXIMAL_TREE_WIDTH / (deepest or 1)))
    # Branches end at the middle of the first line of the text.
    y = [top + LINE_HEIGHT / 2 for top in tops[:-1]] + [0.0] * len(inner)
    for index in range(len(y) - 1, tree.edus - 1, -1):
        item = inner[index - tree.edus]
        ends = (y[item.children[0]], y[item.children[-1]])
        y[index] = sum(ends) / 2 if item.satellite is None else y[item.nucleus]
    x = [MARGIN + depth * step for depth in level]
    # One column of texts is easiest to read, but in a very wide tree it would be far from most branches.
    aligned = deepest * step <= MAXIMAL_TREE_WIDTH
    right = max(x)
    text_x = [(right if aligned else branch) + NUMBER_WIDTH for branch in x[: tree.edus]]
    return _Layout(lines, tops, x, y, text_x)


def _branches(tree: RSTTree, inner: list[Constituent], layout: _Layout) -> list[str]:
    """Return the branches; those of satellites come first, so that the thick lines of nuclei cover them."""
    thin = [
        f'<path class="leader" data-edu="{edu}" '
        f'd="M{layout.x[edu]:.1f} {layout.y[edu]:.1f}H{layout.text_x[edu] - NUMBER_WIDTH + 6:.1f}"/>'
        for edu in range(tree.edus)
    ]
    root = tree.edus if inner else 0
    thick = [f'<path class="nucleus" d="M{MARGIN - 10} {layout.y[root]:.1f}H{layout.x[root]:.1f}"/>']
    for place, item in enumerate(inner):
        x, y = layout.x[tree.edus + place], layout.y[tree.edus + place]
        if item.satellite is not None:
            thick.append(_path("nucleus", place, f"M{x:.1f} {y:.1f}H{layout.x[item.nucleus]:.1f}"))
            end = layout.y[item.satellite]
            thin.append(_path("satellite", place, _bent(x, y, layout.x[item.satellite], end)))
            # The head of the arrow touches the nucleus's line from the satellite's side.
            side = 1 if end > y else -1
            tip, base = y + 1.5 * side, y + 8.5 * side
            thick.append(_path("head", place, f"M{x:.1f} {tip:.1f}L{x - 3.4:.1f} {base:.1f}H{x + 3.4:.1f}Z"))
            continue
        for child in item.children:
            thick.append(_path("multi", place, _bent(x, y, layout.x[child], layout.y[child])))
    return thin + thick


def _bent(x: float, y: float, end_x: float, end_y: float) -> str:
    """Return a line that runs vertically, turns a rounded corner, and ends horizontally."""
    if abs(end_y - y) < 1:
        return f"M{x:.1f} {y:.1f}H{end_x:.1f}"
    corner = min(CORNER, end_x - x, abs(end_y - y))
    turn = end_y - corner if end_y > y else end_y + corner
    return f"M{x:.1f} {y:.1f}V{turn:.1f}Q{x:.1f} {end_y:.1f} {x + corner:.1f} {end_y:.1f}H{end_x:.1f}"


def _path(kind: str, node: int, line: str) -> str:
    return f'<path class="{kind}" data-node="{node}" d="{line}"/>'


def _relations(tree: RSTTree, inner: list[Constituent], layout: _Layout) -> list[str]:
    """Return every constituent's relation, placed on the boundaries between its children."""
    first = [*range(tree.edus), *([0] * len(inner))]
    for index in range(len(first) - 1, tree.edus - 1, -1):
        first[index] = first[inner[index - tree.edus].children[0]]
    texts = []
    for place, item in enumerate(inner):
        kind, x = "n" if item.satellite is None else "s", layout.x[tree.edus + place] + LABEL_GAP
        for child in item.children[1:]:
            y = layout.tops[first[child]] - BOUNDARY_HEIGHT / 2 + 3
            label = escape(printable(item.relation))
            where = f'data-node="{place}" x="{x:.1f}" y="{y:.1f}"'
            texts.append(f'<text class="relation {kind}" {where}>{label}</text>')
    return texts


def _wrap(text: str) -> list[str]:
    """Return the text in lines of at most TEXT_WIDTH, broken at spaces and inside longer words."""
    lines: list[str] = []
    line, width = "", 0.0
    for word in text.split(" "):
        added = _width(word)
        if line and width + NARROW + added <= TEXT_WIDTH:
            line, width = f"{line} {word}", width + NARROW + added
            continue
        if line:
            lines.append(line)
        line, width = "", 0.0
        for character in word:
            needed = _width(character)
            if line and width + needed > TEXT_WIDTH:
                lines.append(line)
                line, width = "", 0.0
            line, width = line + character, width + needed
    return [*lines, line]


def _width(text: str) -> float:
    # The last digits of a sum depend on the version of Python.
    return round(sum(map(_character_width, text)), 3)


@cache
def _character_width(character: str) -> float:
    if unicodedata.category(character).startswith("M"):
        return 0.0
    if unicodedata.east_asian_width(character) in "WF":
        return WIDE
    if character in "MW@%—…":
        return WIDE
    return CAPITAL if character.isupper() or character in "mw" else NARROW


FORMATS.register("svg", Format(dumps))
