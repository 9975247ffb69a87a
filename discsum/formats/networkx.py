"""networkx: the tree as a `networkx.DiGraph`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from discsum.document import Document
from discsum.format_registry import FORMATS, Format

if TYPE_CHECKING:
    import networkx


def to_networkx(document: Document) -> networkx.DiGraph[int]:
    """Return the tree as a graph with edges from parent to child.

    EDUs are nodes 0 to n-1 with `kind="edu"`, `text`, `start`, `end`, `sentence`; inner nodes follow in pre-order with
    `kind="node"` and the fields of `Node`. An edge has `role` (`nucleus` or `satellite`) and the children's `relation`.

    Raises:
        InputError: The document has no tree.
    """
    import networkx

    tree = document.require_tree("networkx")
    graph: networkx.DiGraph[int] = networkx.DiGraph(id=document.id)
    for index, (edu, text) in enumerate(zip(document.edus, document.edu_texts, strict=True)):
        graph.add_node(index, kind="edu", text=text, start=edu.start, end=edu.end, sentence=edu.sentence)
    for index, fields in enumerate(tree.to_dicts(), start=tree.edus):
        graph.add_node(index, kind="node", **fields)
    for start, parents, nucleus in zip((tree.edus, 0), tree.parents, tree.nucleus, strict=True):
        for index, (parent, is_nucleus) in enumerate(zip(parents.tolist(), nucleus.tolist(), strict=True), start):
            if parent >= 0:
                role = "nucleus" if is_nucleus else "satellite"
                graph.add_edge(tree.edus + parent, index, role=role, relation=tree.nodes[parent].relation)
    return graph


FORMATS.register("networkx", Format(to_object=to_networkx))
