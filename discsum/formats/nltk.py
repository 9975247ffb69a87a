"""nltk: the tree as an `nltk.Tree`.

Built without recursion. nltk's own methods (printing, `leaves`, `height`) recurse and fail on a tree nested deeper
than Python's recursion limit.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from discsum.document import Document
from discsum.format_registry import FORMATS, Format
from discsum.formats._constituents import Constituent, constituents

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


FORMATS.register("nltk", Format(to_object=to_nltk))
