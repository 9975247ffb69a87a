"""nltk: the tree as an `nltk.Tree`.

Built and read without recursion. nltk's own methods (printing, `leaves`, `height`) recurse and fail on a tree nested
deeper than Python's recursion limit.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from discsum.batches import check_kind
from discsum.document import Document
from discsum.errors import FormatError
from discsum.format_registry import FORMATS, Format
from discsum.formats._constituents import Constituent, Part, assemble, constituents
from discsum.tree import Node, RSTTree

if TYPE_CHECKING:
    import nltk


def to_nltk(document: Document, *, n_ary: bool = False) -> nltk.Tree:
    """Return the tree with inner labels `NS:relation` and the EDUs' texts as leaves; a single EDU is the leaf of `EDU`.

    With `n_ary`, the nuclei of a multinuclear relation are children of one node, such as `NNN:joint-list`.

    Raises:
        InputError: The document has no tree.
    """
    import nltk

    tree = document.require_tree("nltk")
    if not tree.nodes:
        return nltk.Tree("EDU", list(document.edu_texts))
    merged = (
        constituents(tree)
        if n_ary
        else [
            Constituent(node.nuclearity, node.relation, tree.children(tree.edus + index))
            for index, node in enumerate(tree.nodes)
        ]
    )
    built: list[Any] = [*document.edu_texts, *merged]
    # Children come after their parents.
    for place in reversed(range(tree.edus, len(built))):
        one = built[place]
        roles = "N" * len(one.children) if one.nuclearity == "NN" else one.nuclearity
        built[place] = nltk.Tree(f"{roles}:{one.relation}", [built[child] for child in one.children])
    root: nltk.Tree = built[tree.edus]
    return root


def from_nltk(tree: nltk.Tree, source: str = "") -> Document:
    """Return the document of a tree as `to_nltk` returns it; a node with one child, such as `EDU`, stands for it.

    Raises:
        TypeError: Something else than an `nltk.Tree`.
        InputError: An EDU without text.
        FormatError: A node without children or with another label, or a leaf that is not a text.
    """
    import nltk

    check_kind("tree", tree, (nltk.Tree,))
    texts, nodes, n_ary = list[str](), list[Node](), False
    # The open nodes, each with its remaining children and with what the children before them cover.
    stack: list[tuple[nltk.Tree, Iterator[Any], list[Part]]] = [(tree, iter(tree), [])]
    while stack:
        current, remaining, parts = stack[-1]
        for child in remaining:
            if isinstance(child, nltk.Tree):
                stack.append((child, iter(child), []))
                break
            if not isinstance(child, str):
                name = _name(current, len(texts), len(texts))
                raise FormatError(f"{name}: expected the text of an EDU, got {child!r:.60}", source=source)
            parts.append(Part(len(texts), len(texts)))
            texts.append(child)
        else:
            stack.pop()
            n_ary = n_ary or len(parts) > 2
            whole = _joined(current, parts, nodes, len(texts), source)
            if stack:
                stack[-1][2].append(whole)
    # As in dis: where no node has more than two children, lists could only be nested.
    found = nodes if n_ary else [replace(node, joined=None) for node in nodes]
    return Document.from_edu_texts(texts, RSTTree.from_unordered(len(texts), found), parser="nltk")


def _joined(node: nltk.Tree, parts: Sequence[Part], nodes: list[Node], after: int, source: str) -> Part:
    """Append the binary nodes over the children of a node; return the EDUs that they cover."""
    if len(parts) == 1:
        return parts[0]
    label = str(node.label())
    roles, _, relation = label.partition(":")
    if not parts or not relation or roles not in ("NS", "SN", "N" * len(parts)) or len(roles) != len(parts):
        name = _name(node, parts[0].first if parts else after, after - 1)
        message = (
            f"{name}: expected a label with a role for each child, such as NS:causal-cause, or NNN:joint-list over "
            f"three nuclei, got {len(parts)} children"
        )
        raise FormatError(message, source=source)
    related = [replace(part, relation=relation) for part in parts]
    nuclei, satellites = (
        [part for own, part in zip(roles, related, strict=True) if own == role] for role in ("N", "S")
    )
    return assemble(nuclei, satellites, nodes)


def _name(node: nltk.Tree, first: int, last: int) -> str:
    """Return how errors name a node: its label and its EDUs, from 0."""
    return f"node {node.label()!r} at EDU {first}" + (f"-{last}" if last > first else "")


FORMATS.register("nltk", Format(to_object=to_nltk, from_object=from_nltk))
