"""Conversion between the n-ary trees of files and the binary trees of discsum.

In files a nucleus may have several satellites and a multinuclear relation several nuclei. Reading makes them binary in
one fixed order (`assemble`): nuclei branch to the right, satellites are attached from the nearest outward. Writing
(`constituents`) merges nuclei that branch to the right under one relation into one multinuclear constituent.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from discsum.errors import FormatError
from discsum.tree import Node, RSTTree


@dataclass(frozen=True, slots=True)
class Part:
    """The EDUs `first` to `last` (inclusive), with their relation to the nucleus or the other nuclei.

    `line` is the part's line in the file, for errors.
    """

    first: int
    last: int
    relation: str = ""
    line: int | None = None


class DiscontinuousError(ValueError):
    """Parts that leave a gap or overlap; `part` is the one that does."""

    def __init__(self, whole: Part, part: Part) -> None:
        """Describe the gap or overlap between `part` and `whole`."""
        place = f"EDUs {part.first + 1}-{part.last + 1}"
        super().__init__(f"expected a continuous span, got {place} beside EDUs {whole.first + 1}-{whole.last + 1}")
        self.part = part


def assemble(nuclei: Sequence[Part], satellites: Sequence[Part], nodes: list[Node]) -> Part:
    """Append the binary nodes that join the parts to `nodes`; return the EDUs that they cover.

    Raises:
        DiscontinuousError: Parts that are not adjacent.
    """
    core = join_nuclei(nuclei, nodes)
    left = sorted((part for part in satellites if part.first < core.first), key=lambda part: part.first)
    right = sorted((part for part in satellites if part.first >= core.first), key=lambda part: -part.first)
    covered = core
    while left or right:
        on_the_left = bool(left) and (not right or core.first - left[-1].last <= right[-1].first - core.last)
        satellite = left.pop() if on_the_left else right.pop()
        covered = join_satellite(covered, satellite, nodes)
    return covered


def join_nuclei(nuclei: Sequence[Part], nodes: list[Node]) -> Part:
    """Append the right-branching nodes over the nuclei; return the EDUs that they cover."""
    ordered = sorted(nuclei, key=lambda part: part.first)
    for before, after in pairwise(ordered):
        if before.last + 1 != after.first:
            raise DiscontinuousError(before, after)
    last = ordered[-1].last
    for nucleus in ordered[:-1]:
        nodes.append(Node(nucleus.first, last, nucleus.last, "NN", nucleus.relation))
    return Part(ordered[0].first, last)


def join_satellite(nucleus: Part, satellite: Part, nodes: list[Node]) -> Part:
    """Append the node that joins the satellite to its nucleus; return the EDUs that it covers."""
    if satellite.last + 1 == nucleus.first:
        nodes.append(Node(satellite.first, nucleus.last, satellite.last, "SN", satellite.relation))
    elif nucleus.last + 1 == satellite.first:
        nodes.append(Node(nucleus.first, satellite.last, nucleus.last, "NS", satellite.relation))
    else:
        raise DiscontinuousError(nucleus, satellite)
    return Part(min(nucleus.first, satellite.first), max(nucleus.last, satellite.last))


@dataclass(frozen=True, slots=True)
class Constituent:
    """A node of the tree with its children in text order, more than two if it is multinuclear.

    A child is the index of an EDU, or `edus` plus the index of a constituent.
    """

    nuclearity: str
    relation: str
    children: tuple[int, ...]

    @property
    def nucleus(self) -> int:
        """The nucleus; the leftmost if there are several."""
        return self.children[1] if self.nuclearity == "SN" else self.children[0]

    @property
    def satellite(self) -> int | None:
        """The satellite, if there is one."""
        return None if self.nuclearity == "NN" else self.children[self.nuclearity.index("S")]


def constituents(tree: RSTTree) -> list[Constituent]:
    """Return the tree with its right-branching multinuclear chains as one constituent each, in pre-order."""
    merged: list[tuple[Node, list[int]]] = []
    # The child that stands for an EDU or a node, by `edus` plus index.
    child_of = [*range(tree.edus), *([-1] * len(tree.nodes))]
    for position, parent in enumerate(tree.parents[0].tolist()):
        node, above = tree.nodes[position], tree.nodes[parent]
        chained = parent >= 0 and node.first > above.first and node.nuclearity == above.nuclearity == "NN"
        if chained and node.relation == above.relation:
            child_of[tree.edus + position] = child_of[tree.edus + parent]
        else:
            child_of[tree.edus + position] = tree.edus + len(merged)
            merged.append((node, []))
    for index in range(tree.edus, len(child_of)):
        members = merged[child_of[index] - tree.edus][1]
        members += [child_of[child] for child in tree.children(index) if child_of[child] != child_of[index]]
    return [Constituent(node.nuclearity, node.relation, tuple(members)) for node, members in merged]


def top_down(items: Sequence[Any], parents: Sequence[int], link: str, source: str) -> list[tuple[int, list[int]]]:
    """Return all items, parents before children, each with its children in order.

    Args:
        items: Parts of the file with their `line`; errors name them by their text.
        parents: The parent of each item; the root has a negative one.
        link: What the format calls a parent.
        source: The file's name, for errors.

    Raises:
        FormatError: Several roots, or a circle.
    """
    children: list[list[int]] = [[] for _ in parents]
    roots: list[int] = []
    for item, parent in enumerate(parents):
        (roots if parent < 0 else children[parent]).append(item)
    if len(roots) > 1:
        first, second = (items[root] for root in roots[:2])
        message = f"expected one root, got {len(roots)}: {first} and {second} have no {link}"
        raise FormatError(message, source=source, line=second.line)
    order, stack = [], list(roots)
    while stack:
        order.append(stack.pop())
        stack.extend(children[order[-1]])
    if len(order) < len(items):
        lost = items[min(set(range(len(items))) - set(order))]
        message = f"{lost}: expected a root above it, its {link}s form a circle"
        raise FormatError(message, source=source, line=lost.line)
    return [(item, children[item]) for item in order]
