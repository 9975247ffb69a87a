"""tree: the tree as indented lines, for reading in a terminal.

Chains are shown flat, as RST is usually drawn: the nuclei of one multinuclear relation stand side by side, and so do
a nucleus and its satellites. The binary tree itself is what `--format json` prints.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass

from discsum.document import Document
from discsum.errors import InputError
from discsum.format_registry import FORMATS, Format
from discsum.tree import Node, RSTTree

_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")


@dataclass(frozen=True)
class Line:
    """One line of the outline.

    Attributes:
        guides: The lines that lead to it from above.
        role: `N`, `S`, or nothing at the root.
        relation: The relation it stands in; a nucleus of a mononuclear relation has none.
        text: The EDU's text, or nothing for an inner node.
        rest: What its own continuation lines begin with.
    """

    guides: str
    role: str
    relation: str
    text: str
    rest: str

    @property
    def label(self) -> str:
        """Role and relation."""
        return f"{self.role} {self.relation}".strip()


@dataclass(frozen=True)
class _Constituent:
    """A span with its role among its siblings; `node` is None for a single EDU."""

    edu: int
    node: int | None
    role: str
    relation: str


def outline(document: Document) -> Iterator[Line]:
    """Yield the lines of a document's tree, in the order of the text.

    Raises:
        InputError: A document without a tree.
    """
    if document.tree is None:
        raise InputError(f"{document.id or 'document'}: expected a discourse tree, got none; is the text empty?")
    # A text must not be able to steer the terminal that shows it.
    texts = [_CONTROL.sub("\ufffd", " ".join(text.split())) for text in document.edu_texts]
    root = _Constituent(0, 0 if document.tree.nodes else None, "", "")
    # What is still to show, the next on top: a constituent, what stands before it, whether it is the last sibling.
    waiting = [(root, "", True, True)]
    while waiting:
        item, above, last, top = waiting.pop()
        guides = above if top else above + ("└─ " if last else "├─ ")
        below = above if top else above + ("   " if last else "│  ")
        if item.node is None:
            yield Line(guides, item.role, item.relation, texts[item.edu], below)
            continue
        if not top:
            yield Line(guides, item.role, item.relation, "", below)
        children = _children(document.tree, item.node)
        for position in range(len(children) - 1, -1, -1):
            waiting.append((children[position], below, position == len(children) - 1, False))


def to_text(document: Document, width: int | None = None) -> str:
    """Return the outline as text; with `width` EDU texts are wrapped to so many columns."""
    lines = []
    for line in outline(document):
        head = f"{line.guides}[{line.label}]" if line.label else line.guides.rstrip()
        if not line.text:
            lines.append(head)
            continue
        room = None if width is None else max(30, width - len(head) - 1)
        pieces = [line.text] if room is None else textwrap.wrap(line.text, room) or [line.text]
        lines.append(f"{head} {pieces[0]}" if line.label else pieces[0])
        indent = line.rest + " " * (len(head) - len(line.rest) + 1)
        lines.extend(indent + piece for piece in pieces[1:])
    return "\n".join(lines) + "\n"


def _children(tree: RSTTree, index: int) -> list[_Constituent]:
    """Return the flat children of a node: the nuclei of its relation, or its nucleus with all satellites."""
    if tree.nodes[index].nuclearity == "NN":
        return _nuclei(tree, index)
    before: list[_Constituent] = []
    after: list[_Constituent] = []
    inner: int | None = index
    while inner is not None and tree.nodes[inner].nuclearity != "NN":
        node = tree.nodes[inner]
        left, right = _sides(tree, inner)
        if node.nuclearity == "NS":
            after.insert(0, _Constituent(node.split + 1, right, "S", node.relation))
            edu, inner = node.first, left
        else:
            before.append(_Constituent(node.first, left, "S", node.relation))
            edu, inner = node.split + 1, right
    return [*before, _Constituent(edu, inner, "N", ""), *after]


def _nuclei(tree: RSTTree, index: int) -> list[_Constituent]:
    relation = tree.nodes[index].relation
    children = []
    # What is still to part into nuclei, the next on top: its first EDU and its node.
    waiting: list[tuple[int, int | None]] = [(tree.nodes[index].first, index)]
    while waiting:
        first, inner = waiting.pop()
        node = None if inner is None else tree.nodes[inner]
        if inner is None or node is None or (node.nuclearity, node.relation) != ("NN", relation):
            children.append(_Constituent(first, inner, "N", relation))
            continue
        left, right = _sides(tree, inner)
        waiting += [(node.split + 1, right), (first, left)]
    return children


def _sides(tree: RSTTree, index: int) -> tuple[int | None, int | None]:
    """Return the nodes below a node, None for an EDU."""
    node: Node = tree.nodes[index]
    left = index + 1 if node.first < node.split else None
    right = index + 1 + node.split - node.first if node.split + 1 < node.last else None
    return left, right


FORMATS.register("tree", Format(to_text, suffix=".txt"))
