"""rsd: the tab-separated discourse dependencies of rst2dep (columns as in CoNLL, one EDU a line).

    1 EDU   2 text   3 distance   4-6 unused   7 head EDU, 0 above the root   8 relation   9-10 unused

An EDU's head is the head of the constituent that it attaches to, where the leftmost of several nuclei is the head (Li
et al. 2014); the relation ends in `_r` for a satellite, in `_m` for a further nucleus. Each EDU except the root thus
represents one binary node, and the heads leave only the order of attachment of a head's dependents undetermined.
Column 3 gives it: written here as 0, 1, 2, … from the innermost outward, with one number for all nuclei of a
multinuclear constituent. So every tree is read back exactly, also by rst2dep's `dep2rst` unless a label is used for
satellites and for nuclei (the rs3 that it writes does not distinguish them).

rst2dep itself writes path lengths to column 3 (algorithm `li`, its default). They order the dependents as well, except
for ties; then nuclei come before satellites and near before far, as in `_constituents.assemble`, which restores all of
GUM. N-ary shape beyond that order is lost, and so is part of the tree with the algorithms `chain` and `hirao`, which
move or drop the links between nuclei. Several roots are joined as in rs3 (`_roots`); the links between them are written
with the relation `unattached_m`. Secondary edges, signals and node ids (columns 4, 5, 9, 10) are ignored. Texts are
written as by `_plain_text`; the format has no probabilities.

References:
    Li, Wang, Cao and Li (2014): Text-level Discourse Dependency Parsing. ACL, section 3.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from discsum.document import Document
from discsum.errors import FormatError, FormatWarning, warn_caller
from discsum.format_registry import FORMATS, Format
from discsum.formats._constituents import DiscontinuousError, Part, constituents, join_nuclei, join_satellite, top_down
from discsum.formats._plain_text import fold, tree_and_texts
from discsum.formats._roots import JOINED, join_roots, largest, places
from discsum.tree import Node, RSTTree

_COLUMNS = 10


@dataclass(frozen=True, slots=True)
class _Row:
    """One line: an EDU and its attachment to its head."""

    line: int
    id: str
    text: str
    distance: int
    head: int
    relation: str
    multinuclear: bool

    def __str__(self) -> str:
        return f"EDU {self.id}"


def dumps(document: Document) -> str:
    """Return the document's tree as an rsd file.

    Raises:
        InputError: No tree, or one that the format cannot hold.
    """
    tree, texts = tree_and_texts(document, "rsd")
    inner = constituents(tree)
    # Bottom up: the head EDU of each EDU and constituent, and the number of attachments to each head so far.
    heads = [*range(tree.edus), *([0] * len(inner))]
    attached = [0] * tree.edus
    columns = [("0", "0", "ROOT")] * tree.edus
    for index in range(len(inner) - 1, -1, -1):
        item = inner[index]
        head = heads[tree.edus + index] = heads[item.nucleus]
        suffix = "m" if item.satellite is None else "r"
        for child in item.children:
            if child != item.nucleus:
                columns[heads[child]] = (str(attached[head]), str(head + 1), f"{item.relation}_{suffix}")
        attached[head] += 1
    lines = [
        "\t".join((str(edu + 1), text, distance, "_", "_", "_", head_edu, relation, "_", "_"))
        for edu, (text, (distance, head_edu, relation)) in enumerate(zip(texts, columns, strict=True))
    ]
    return "\n".join(lines) + "\n"


def loads(content: str, source: str = "", roots: str = "join") -> Document:
    """Return the document of an rsd file, written here or by rst2dep.

    Args:
        content: The file.
        source: The file's name, for errors.
        roots: How to read several roots: `join` them, `drop` all but the largest, or `error`.

    Raises:
        FormatError: A line with other columns, no root, a circle, a non-projective tree, roots that cannot be joined,
            or, with `roots="error"`, several.
    """
    rows = _rows(content, source)
    order = top_down(rows, [row.head for row in rows], "head", source, one_root=roots == "error")
    root_of = [0] * len(rows)
    for edu, _ in order:
        root_of[edu] = edu if rows[edu].head < 0 else root_of[rows[edu].head]
    kept = _kept(root_of, roots, rows, source)
    root_of = [root_of[edu] for edu in kept]
    edus = [kept[place] for place in places(root_of)]
    place_of = {edu: place for place, edu in enumerate(edus)}
    nodes: list[Node] = []
    parts: dict[int, Part] = {}
    for head, dependents in reversed([item for item in order if item[0] in place_of]):
        row = rows[head]
        try:
            whole = _attach(head, place_of[head], dependents, rows, parts, nodes)
        except DiscontinuousError as error:
            message = f"{row}: {error.message(edus)}; the tree must be projective, correct the heads of these EDUs"
            raise FormatError(message, source=source, line=error.part.line or row.line) from error
        parts[head] = replace(whole, relation=row.relation, line=row.line)
    nodes = join_roots(root_of, nodes, lambda root: (rows[root], rows[root].line), source)
    tree = RSTTree.from_unordered(len(kept), nodes)
    return Document.from_edu_texts([rows[edu].text for edu in kept], tree, parser="rsd")


def _kept(root_of: list[int], roots: str, rows: list[_Row], source: str) -> list[int]:
    """Return the EDUs that the policy keeps, with a warning if there are several roots."""
    heads = list(dict.fromkeys(root_of))
    if len(heads) == 1:
        return list(range(len(rows)))
    message = f"expected one root, got {len(heads)}: {rows[heads[0]]} and {rows[heads[1]]} have no head; "
    kept = list(range(len(rows)))
    if roots == "drop":
        root = largest(root_of)
        kept = [edu for edu in kept if root_of[edu] == root]
        message += f"left out {len(rows) - len(kept)} of {len(rows)} EDUs, those that are not under {rows[root]}"
    else:
        message += JOINED
    warn_caller(FormatWarning(message, source=source, line=rows[heads[1]].line))
    return kept


def _rows(content: str, source: str) -> list[_Row]:
    rows: list[_Row] = []
    for number, line in enumerate(content.split("\n"), start=1):
        if not line.strip() or line.startswith("#"):
            continue
        columns = line.rstrip("\r").split("\t")
        if len(columns) != _COLUMNS:
            message = f"expected {_COLUMNS} columns between tabs, got {len(columns)}; write _ where there is nothing"
            raise FormatError(message, source=source, line=number)
        id, text, distance, head, label = (columns[index] for index in (0, 1, 2, 6, 7))
        if id != str(len(rows) + 1):
            raise FormatError(
                f"column 1: expected EDU {len(rows) + 1}, got {id!r}; number the lines from 1",
                source=source,
                line=number,
            )
        if not fold(text):
            raise FormatError(
                f"column 2: expected the text of EDU {id}, got none; add it, or remove the line",
                source=source,
                line=number,
            )
        away = (
            0 if distance == "_" else _number(distance, "column 3: expected the head's distance or _", source, number)
        )
        above = _number(head, "column 7: expected the head's number, or 0 for the root", source, number) - 1
        relation = label.removesuffix("_m") if label.endswith("_m") else label.removesuffix("_r")
        if not relation:
            raise FormatError(
                f"column 8: expected a relation, got {label!r}; write one such as cause_r or list_m",
                source=source,
                line=number,
            )
        rows.append(_Row(number, id, fold(text), away, above, relation, label.endswith("_m")))
    if not rows:
        raise FormatError("expected one line per EDU, found none; is it an rsd file?", source=source)
    for row in rows:
        if row.head >= len(rows):
            message = f"column 7: expected an EDU up to {len(rows)}, got {row.head + 1}; write 0 for the root"
            raise FormatError(message, source=source, line=row.line)
    return rows


def _number(text: str, expected: str, source: str, line: int) -> int:
    if not (text.isascii() and text.isdigit() and len(text) < 10):
        raise FormatError(f"{expected}, got {text!r}", source=source, line=line)
    return int(text)


def _attach(
    head: int, place: int, dependents: list[int], rows: list[_Row], parts: dict[int, Part], nodes: list[Node]
) -> Part:
    """Append the nodes that attach the dependents to the head, innermost first; return the places that they cover.

    On each side the nearest comes first whatever the distances, since no other order gives a tree. The distances
    decide between the two sides.
    """
    left = [edu for edu in dependents if edu < head]
    right = [edu for edu in reversed(dependents) if edu > head]

    def priority(edu: int) -> tuple[int, bool, int]:
        gap = place - parts[edu].last if edu < head else parts[edu].first - place
        return rows[edu].distance, not rows[edu].multinuclear, gap

    whole = Part(place, place)
    while left or right:
        on_the_left = bool(left) and (not right or priority(left[-1]) <= priority(right[-1]))
        queue = left if on_the_left else right
        first = rows[queue[-1]]
        if not first.multinuclear:
            whole = join_satellite(whole, parts[queue.pop()], nodes)
            continue
        nuclei = [replace(whole, relation=first.relation)]
        same = (first.multinuclear, first.distance, first.relation)
        while queue and (rows[queue[-1]].multinuclear, rows[queue[-1]].distance, rows[queue[-1]].relation) == same:
            nuclei.append(parts[queue.pop()])
        whole = join_nuclei(nuclei, nodes)
    return whole


FORMATS.register("rsd", Format(dumps, loads, takes=("roots",)))
