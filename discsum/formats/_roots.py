"""Join several roots and unattached EDUs of a file to one tree.

Each root is read as a tree of its own. Its nodes count places: positions in the list of all EDUs, sorted by root and
then in text order. A root that lies between two EDUs of another one (such as a heading) is joined where the other
one's tree splits between these EDUs. All others are joined at the top, in text order. `split_roots` is the inverse, for
writing.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from discsum.constants import UNATTACHED
from discsum.errors import FormatError
from discsum.formats._constituents import Part, join_nuclei
from discsum.tree import Node, RSTTree

# End of warnings about roots that were joined. Not all commands have the option; `parse` can write trees for them.
JOINED = (
    "joined in text order as unattached (discsum parse --roots drop keeps the largest, --roots error refuses the file; "
    "Python: roots=)"
)


def largest(root_of: Sequence[int]) -> int:
    """Return the root with the most EDUs, the first one in a tie."""
    return Counter(root_of).most_common(1)[0][0]


def places(root_of: Sequence[int]) -> list[int]:
    """Return the EDUs in the order of their places: those of the first root, then those of the second, ..."""
    rank = {root: place for place, root in enumerate(dict.fromkeys(root_of))}
    return sorted(range(len(root_of)), key=lambda edu: rank[root_of[edu]])


def join_roots(
    root_of: Sequence[int], nodes: Sequence[Node], name: Callable[[int], tuple[Any, int]], source: str
) -> list[Node]:
    """Return the nodes of one tree over all EDUs.

    Args:
        root_of: The root of each EDU.
        nodes: The nodes of the roots' trees, over places.
        name: Returns what errors call a root, and its line.
        source: The file's name, for errors.

    Raises:
        FormatError: Two roots whose EDUs interleave, so that neither lies between two EDUs of the other.
    """
    if len(set(root_of)) == 1:
        return list(nodes)
    ends = {root: edu for edu, root in enumerate(root_of)}
    _check_nesting(root_of, ends, name, source)
    edus = places(root_of)

    def roots_between(first: int, last: int) -> list[Part]:
        parts = []
        while first <= last:
            parts.append(Part(first, ends[root_of[first]], UNATTACHED))
            first = parts[-1].last + 1
        return parts

    joined: list[Node] = []
    for node in nodes:
        # The left child, then the roots between it and the right child.
        first, left, right = edus[node.first], edus[node.split], edus[node.split + 1]
        if left + 1 < right:
            join_nuclei([Part(first, left, UNATTACHED), *roots_between(left + 1, right - 1)], joined)
        joined.append(replace(node, first=first, last=edus[node.last], split=right - 1))
    join_nuclei(roots_between(0, len(root_of) - 1), joined)
    return joined


def split_roots(tree: RSTTree) -> list[tuple[list[int], RSTTree]]:
    """Return the EDUs and the tree of each root: under `unattached`, all children but the leftmost are roots.

    If reading would join these to another tree, the whole tree is one root, and `unattached` an ordinary relation.
    """
    roots = [0] * (tree.edus + len(tree.nodes))
    edus_of: list[list[int]] = [[]]
    nodes_of: list[list[Node]] = [[]]
    for index, node in enumerate(tree.nodes, start=tree.edus):
        left, right = tree.children(index)
        roots[left] = roots[right] = roots[index]
        if is_unattached(node):
            roots[right] = len(edus_of)
            edus_of.append([])
            nodes_of.append([])
        else:
            nodes_of[roots[index]].append(node)
    for edu in range(tree.edus):
        edus_of[roots[edu]].append(edu)
    if len(edus_of) == 1:
        return [(edus_of[0], tree)]
    found = []
    for edus, nodes in zip(edus_of, nodes_of, strict=True):
        own = [
            replace(
                node,
                first=bisect_left(edus, node.first),
                last=bisect_right(edus, node.last) - 1,
                split=bisect_right(edus, node.split) - 1,
            )
            for node in nodes
        ]
        found.append((edus, RSTTree(len(edus), own)))
    found.sort(key=lambda root: root[0])
    return found if _joined_again(found) == [_key(node) for node in tree.nodes] else [([*range(tree.edus)], tree)]


def _joined_again(roots: Sequence[tuple[list[int], RSTTree]]) -> list[tuple[Any, ...]]:
    """Return the nodes that reading would make of roots, in pre-order; none if it would refuse them."""
    root_of = {edu: root for root, (edus, _) in enumerate(roots) for edu in edus}
    nodes, before = [], 0
    for _, own in roots:
        for node in own.nodes:
            first, last, split = (end + before for end in (node.first, node.last, node.split))
            nodes.append(replace(node, first=first, last=last, split=split))
        before += own.edus
    try:
        joined = join_roots([root_of[edu] for edu in range(before)], nodes, lambda root: (root, 0), "")
    except FormatError:
        return []
    return [_key(node) for node in RSTTree.from_unordered(before, joined).nodes]


def _key(node: Node) -> tuple[Any, ...]:
    return node.first, node.last, node.split, node.nuclearity, node.relation


def is_unattached(node: Node) -> bool:
    """Return whether a node joins roots that are separate in the file."""
    return node.nuclearity == "NN" and node.relation == UNATTACHED


def _check_nesting(
    root_of: Sequence[int], ends: dict[int, int], name: Callable[[int], tuple[Any, int]], source: str
) -> None:
    seen: set[int] = set()
    open_roots: list[int] = []
    for edu, root in enumerate(root_of):
        while open_roots and ends[open_roots[-1]] < edu:
            open_roots.pop()
        if root not in seen:
            seen.add(root)
            open_roots.append(root)
        elif open_roots[-1] != root:
            (one, _), (other, line) = name(root), name(open_roots[-1])
            message = (
                f"expected roots one after the other, or one between two EDUs of another, got {one} and {other}, which "
                f"interleave at EDU {edu + 1}; attach one to the other, or keep only the largest with discsum parse "
                "--roots drop (Python: roots='drop')"
            )
            raise FormatError(message, source=source, line=line)
