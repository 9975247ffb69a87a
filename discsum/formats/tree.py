"""tree: the tree as indented lines, for reading in a terminal.

Chains are shown flat, as RST is usually drawn: the nuclei of one multinuclear relation are siblings, and so are a
nucleus and its satellites. A list in a list stays nested, as in rs3. `--format json` prints the binary tree itself.
"""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

from discsum.document import Document
from discsum.format_registry import FORMATS, Format
from discsum.tree import Node, RSTTree

if TYPE_CHECKING:
    from rich.console import Console

# Columns of indentation at most.
_WIDEST = 120
# Control characters, and the overrides of the direction of writing.
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u202d\u202e]")


class _Child(NamedTuple):
    """An EDU, or a node as `edus` plus its index, with its role (`N`, `S`, empty for the root) and relation."""

    place: int
    role: str = ""
    relation: str = ""


def to_text(document: Document, width: int | None = None) -> str:
    """Return the outline of a document's tree; with `width`, EDU texts are wrapped to that many columns.

    Raises:
        InputError: A document without a tree.
    """
    tree = document.require_tree("tree")
    texts = [_shown(text) for text in document.edu_texts]
    lines: list[str] = []
    # A stack: a child, the prefix of its line, and the prefix of the lines below it.
    stack = [(_Child(tree.edus if tree.nodes else 0), "", "")]
    while stack:
        child, prefix, below = stack.pop()
        label = _shown(f"{child.role} {child.relation}")
        head = f"{prefix}[{label}]" if label else ""
        if child.place < tree.edus:
            text = texts[child.place]
            piece, *others = [text] if width is None else _wrapped(text, width, head, below)
            lines.append(f"{head} {piece}".rstrip() if label else piece)
            lines += others
            continue
        if label:
            lines.append(head)
        ends = [("└─ ", "   ")]
        for sibling in reversed(_flat_children(tree, child.place)):
            branch, guide = ends.pop() if ends else ("├─ ", "│  ")
            # Deeper levels are not indented further, so that the size stays linear.
            deeper = below + guide if len(below) < _WIDEST else below
            stack.append((sibling, below + branch, deeper))
    return "\n".join(lines) + "\n"


def _flat_children(tree: RSTTree, index: int) -> list[_Child]:
    """Return the flat children of a node: the nuclei of its relation, or its nucleus with all satellites."""
    chain = _nucleus_relation(tree.nodes[index - tree.edus])
    children: list[_Child] = []
    # With each child, whether it is the first of the node above it.
    stack = [(_Child(index, "N"), False)]
    while stack:
        child, leads = stack.pop()
        node = tree.nodes[child.place - tree.edus] if child.place >= tree.edus else None
        # A nucleus of its own of the relation above, and not the rest of its nuclei.
        nested = chain and child.place != index and node is not None and (leads or node.joined is False)
        if node is None or child.role == "S" or _nucleus_relation(node) != chain or nested:
            children.append(child)
            continue
        below = tree.children(child.place)
        for place, role in reversed(list(zip(below, node.nuclearity, strict=True))):
            stack.append((_Child(place, role, chain if role == "N" else node.relation), place == below[0]))
    return children


def _nucleus_relation(node: Node) -> str:
    return node.relation if node.nuclearity == "NN" else ""


def _wrapped(text: str, width: int, head: str, below: str) -> list[str]:
    """Return the text in lines that, after `head` or `below`, have at most `width` columns, but 30 for the text.

    East Asian letters and emoji take two columns. All lines but the first begin with `below`.
    """
    from rich.cells import cell_len
    from rich.text import Text

    taken = cell_len(head) + 1
    wrapped = Text(text).wrap(_console(), max(30, width - taken))
    piece, *others = [line.plain.rstrip() for line in wrapped] or [text]
    return [piece, *(below.ljust(taken) + other for other in others)]


@cache
def _console() -> Console:
    from rich.console import Console

    return Console()


def _shown(text: str) -> str:
    """Return a text on one line; control characters must not reach the terminal."""
    return _CONTROL.sub("\ufffd", " ".join(text.split()))


FORMATS.register("tree", Format(to_text, suffix=".txt"))
