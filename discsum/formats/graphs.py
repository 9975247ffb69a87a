"""Trees as the objects of other libraries: `nltk.Tree` and `networkx.DiGraph`.

Both are built without recursion. What nltk itself does with a tree (printing, `leaves`, `height`) recurses, so
a tree nested deeper than Python's recursion limit can be built and walked, not printed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from discsum.document import Document

if TYPE_CHECKING:
    import networkx
    import nltk


def to_nltk(document: Document) -> nltk.Tree:
    """Return the tree with inner labels `NS:relation` and the EDUs' texts as leaves; one EDU alone is under `EDU`.

    Raises:
        InputError: The document has no tree.
    """
    import nltk

    tree = document.require_tree("nltk")
    if not tree.nodes:
        return nltk.Tree("EDU", list(document.edu_texts))
    built: list[nltk.Tree] = []
    # Backwards through the pre-order, a node's children are the last ones built: the left on top.
    for node in reversed(tree.nodes):
        left = built.pop() if node.split > node.first else document.edu_texts[node.first]
        right = built.pop() if node.split + 1 < node.last else document.edu_texts[node.last]
        built.append(nltk.Tree(f"{node.nuclearity}:{node.relation}", [left, right]))
    return built[0]


def to_networkx(document: Document) -> networkx.DiGraph[int]:
    """Return the tree as a graph with edges from parent to child.

    EDUs are nodes 0 to n-1 with `kind="edu"`, `text`, `start`, `end`, `sentence`; inner nodes follow in
    pre-order with `kind="node"` and the fields of `Node`. An edge has `role` (`nucleus` or `satellite`) and
    the `relation` between the children.

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
