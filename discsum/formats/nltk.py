"""nltk: the tree as an `nltk.Tree`.

Built without recursion. nltk's own methods (printing, `leaves`, `height`) recurse and fail on a tree nested deeper
than Python's recursion limit.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from discsum.document import Document
from discsum.format_registry import FORMATS, Format

if TYPE_CHECKING:
    import nltk


def to_nltk(document: Document) -> nltk.Tree:
    """Return the tree with inner labels `NS:relation` and the EDUs' texts as leaves; a single EDU is the leaf of `EDU`.

    Raises:
        InputError: The document has no tree.
    """
    import nltk

    tree = document.require_tree("nltk")
    if not tree.nodes:
        return nltk.Tree("EDU", list(document.edu_texts))
    built: list[nltk.Tree] = []
    # In reversed pre-order a node's children are the last ones built, the left on top.
    for node in reversed(tree.nodes):
        left = built.pop() if node.split > node.first else document.edu_texts[node.first]
        right = built.pop() if node.split + 1 < node.last else document.edu_texts[node.last]
        built.append(nltk.Tree(f"{node.nuclearity}:{node.relation}", [left, right]))
    return built[0]


FORMATS.register("nltk", Format(to_object=to_nltk))
