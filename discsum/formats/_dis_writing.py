"""Writing of dis files."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

from discsum.document import Document
from discsum.formats._constituents import Part
from discsum.formats._dis_reading import MARK, PARAGRAPH, join_children
from discsum.formats._plain_text import tree_and_texts
from discsum.tree import Node, RSTTree
from discsum.writing import BLANK_LINE

# Deeper levels are not indented further, as the file of a right-branching tree would grow quadratically.
_INDENTED_LEVELS = 40


def dumps(document: Document, *, brackets: bool = False) -> str:
    """Return the document's tree as a dis file; with `brackets`, round brackets in texts are `-LRB-` and `-RRB-`.

    EDUs before a blank line end with `<P>`.

    Raises:
        InputError: No tree, or one that the format cannot hold.
    """
    tree, texts = tree_and_texts(document, "dis", one_word=True)
    if brackets:
        texts = [text.replace("(", "-LRB-").replace(")", "-RRB-") for text in texts]
    children, ends = _children(tree), _paragraph_ends(document)
    lines: list[str] = []
    # A stack of EDUs, nodes (`edus` plus their index) and closing brackets (-1), with role, relation and depth.
    stack: list[tuple[int, str, str, int]] = [(tree.edus if tree.nodes else 0, "Root", "", 0)]
    while stack:
        index, role, relation, depth = stack.pop()
        indent = "  " * min(depth, _INDENTED_LEVELS)
        to_parent = f" (rel2par {relation})" if relation else ""
        if index < 0:
            lines.append(f"{indent})")
        elif index < tree.edus:
            text = MARK.sub("\\1\u2060\\2\\3", texts[index]) + (PARAGRAPH if index in ends else "")
            lines.append(f"{indent}( {role} (leaf {index + 1}){to_parent} (text _!{text}_!) )")
        else:
            node = tree.nodes[index - tree.edus]
            lines.append(f"{indent}( {role} (span {node.first + 1} {node.last + 1}){to_parent}")
            stack.append((-1, "", "", depth))
            stack += [(*child, depth + 1) for child in reversed(children[index])]
    return "\n".join(lines) + "\n"


def _paragraph_ends(document: Document) -> set[int]:
    """Return the EDUs that a blank line follows."""
    both = pairwise(document.edus)
    return {index for index, (one, other) in enumerate(both) if BLANK_LINE.search(document.text, one.end, other.start)}


def _children(tree: RSTTree) -> dict[int, list[tuple[int, str, str]]]:
    """Return the children, with role and relation, of each node that has a bracket of its own.

    A node that is joined to the one above shares its bracket, if reading that bracket gives the same nodes.
    """
    tops = list(range(len(tree.nodes)))
    for position, parent in enumerate(tree.parents[0].tolist()):
        if parent >= 0 and tree.nodes[position].joined:
            tops[position] = tops[parent]
    groups: dict[int, list[int]] = {}
    for position, top in enumerate(tops):
        groups.setdefault(top, []).append(position)
    found = {}
    for group in groups.values():
        together = _bracket(tree, group)
        if len(group) == 1 or _read_again(tree, group, together):
            found[tree.edus + group[0]] = together
        else:
            found |= {tree.edus + position: _bracket(tree, [position]) for position in group}
    return found


def _bracket(tree: RSTTree, group: list[int]) -> list[tuple[int, str, str]]:
    """Return the children of nodes that share a bracket, in text order."""
    inside = {tree.edus + position for position in group}
    several = next((tree.nodes[position].relation for position in group if tree.nodes[position].nuclearity == "NN"), "")
    found = []
    for position in group:
        node = tree.nodes[position]
        for child, role in zip(tree.children(tree.edus + position), node.nuclearity, strict=True):
            if child not in inside:
                found.append(
                    (child, "Nucleus", several or "span") if role == "N" else (child, "Satellite", node.relation)
                )
    return sorted(found, key=lambda child: _span(tree, child[0]))


def _span(tree: RSTTree, index: int) -> tuple[int, int]:
    if index < tree.edus:
        return index, index
    node = tree.nodes[index - tree.edus]
    return node.first, node.last


def _read_again(tree: RSTTree, group: list[int], children: list[tuple[int, str, str]]) -> bool:
    """Return whether reading a bracket of these children gives the nodes of the group."""
    nodes: list[Node] = []
    try:
        join_children([(role, Part(*_span(tree, child), relation)) for child, role, relation in children], nodes)
    except ValueError:
        return False
    nodes.sort(key=lambda node: (node.first, -node.last))
    return nodes == [replace(tree.nodes[position], probability=1.0) for position in group]
