"""Conversion between the n-ary trees of files and the binary trees of discsum.

In files a nucleus may have several satellites and a multinuclear relation several nuclei. Reading makes them binary in
one fixed order (`assemble`): nuclei branch to the right, satellites are attached from the nearest outward. The nodes of
one constituent are marked by `Node.joined`, so that writing (`constituents`) restores the constituent. In trees without
that mark, nuclei that branch to the right under one relation are one constituent.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

from discsum.constants import UNATTACHED
from discsum.errors import FormatError
from discsum.tree import Node, RSTTree


@dataclass(frozen=True, slots=True)
class Part:
    """The EDUs `first` to `last` (inclusive), with their relation to the nucleus or the other nuclei.

    `line` is the part's line in the file, for errors; `top` is the index of its highest node, if it has any.
    """

    first: int
    last: int
    relation: str = ""
    line: int | None = None
    top: int | None = None


class DiscontinuousError(ValueError):
    """Parts that leave a gap or overlap; `part` is the one that does."""

    def __init__(self, whole: Part, part: Part) -> None:
        """Describe the gap or overlap between `part` and `whole`."""
        self.whole, self.part = whole, part
        super().__init__(self.message())

    def message(self, edus: Sequence[int] | None = None) -> str:
        """Return the message; with `edus`, the parts are given by positions in that list of EDUs."""
        ends = [self.part.first, self.part.last, self.whole.first, self.whole.last]
        first, last, *whole = [1 + (edus[end] if edus else end) for end in ends]
        return f"expected a continuous span, got EDUs {first}-{last} and EDUs {whole[0]}-{whole[1]}"


def assemble(nuclei: Sequence[Part], satellites: Sequence[Part], nodes: list[Node], *, flat: bool = False) -> Part:
    """Append the binary nodes that join the parts to `nodes`; return the EDUs that they cover.

    With `flat`, satellites of several nuclei are marked as one constituent with them, as in dis, where one bracket
    holds all.

    Raises:
        DiscontinuousError: Parts that are not adjacent.
    """
    covered = join_nuclei(nuclei, nodes)
    if flat and satellites and len(nuclei) > 1:
        mark(covered, nodes, joined=True)
    for place, satellite in enumerate(from_nearest(covered, satellites)):
        if place:
            mark(covered, nodes, joined=True)
        covered = join_satellite(covered, satellite, nodes)
    return covered


def from_nearest(core: Part, satellites: Sequence[Part]) -> Iterator[Part]:
    """Yield the satellites of a nucleus in order of attachment: nearest first, and left before right in a tie."""
    left = sorted((part for part in satellites if part.first < core.first), key=lambda part: part.first)
    right = sorted((part for part in satellites if part.first >= core.first), key=lambda part: -part.first)
    while left or right:
        on_the_left = bool(left) and (not right or core.first - left[-1].last <= right[-1].first - core.last)
        yield left.pop() if on_the_left else right.pop()


def join_nuclei(nuclei: Sequence[Part], nodes: list[Node]) -> Part:
    """Append the right-branching nodes over the nuclei; return the EDUs that they cover."""
    ordered = sorted(nuclei, key=lambda part: part.first)
    for before, after in pairwise(ordered):
        if before.last + 1 != after.first:
            raise DiscontinuousError(before, after)
    last = ordered[-1]
    if len(ordered) > 1 and last.top is not None and _continues(nodes[last.top], ordered[-2].relation):
        mark(last, nodes, joined=False)
    top = last.top if len(ordered) == 1 else len(nodes)
    relation = ""
    for nucleus in ordered[:-1]:
        joined = True if nucleus.relation == relation else None
        nodes.append(Node(nucleus.first, last.last, nucleus.last, "NN", nucleus.relation, joined=joined))
        relation = nucleus.relation
    return Part(ordered[0].first, last.last, top=top)


def relation_conflict(nuclei: Sequence[Part]) -> str:
    """Return what is wrong with nuclei of different relations; empty if there is one relation, or one nucleus."""
    labels = sorted({part.relation for part in nuclei}) if len(nuclei) > 1 else []
    if len(labels) < 2:
        return ""
    nested = "they are nested where it changes, and " if len(nuclei) > 2 else ""
    return f"expected nuclei of one relation, got {', '.join(labels)}; {nested}that of the last nucleus is lost"


def join_satellite(nucleus: Part, satellite: Part, nodes: list[Node]) -> Part:
    """Append the node that joins the satellite to its nucleus; return the EDUs that it covers."""
    if satellite.last + 1 == nucleus.first:
        nodes.append(Node(satellite.first, nucleus.last, satellite.last, "SN", satellite.relation))
    elif nucleus.last + 1 == satellite.first:
        nodes.append(Node(nucleus.first, satellite.last, nucleus.last, "NS", satellite.relation))
    else:
        raise DiscontinuousError(nucleus, satellite)
    return Part(min(nucleus.first, satellite.first), max(nucleus.last, satellite.last), top=len(nodes) - 1)


def mark(part: Part, nodes: list[Node], *, joined: bool) -> None:
    """Mark whether the highest node of a part is one constituent with the node above; an EDU has no node to mark."""
    if part.top is not None:
        nodes[part.top] = replace(nodes[part.top], joined=joined)


def _continues(node: Node, relation: str) -> bool:
    return node.nuclearity == "NN" and node.relation == relation


@dataclass(frozen=True, slots=True)
class Constituent:
    """A node of the tree with its children in text order, more than two if it is multinuclear.

    A child is the index of an EDU, or `edus` plus the index of a constituent. `outer` are further satellites of the
    same nucleus with their relations, from the nearest outward; they are not among `children`.
    """

    nuclearity: str
    relation: str
    children: tuple[int, ...]
    outer: tuple[tuple[int, str], ...] = ()

    @property
    def nucleus(self) -> int:
        """The nucleus; the leftmost if there are several."""
        return self.children[1] if self.nuclearity == "SN" else self.children[0]

    @property
    def satellite(self) -> int | None:
        """The satellite, the nearest if there are several; None if there is none."""
        return None if self.nuclearity == "NN" else self.children[self.nuclearity.index("S")]


def constituents(tree: RSTTree, *, n_ary: bool = False) -> list[Constituent]:
    """Return the constituents of a tree in pre-order; each right-branching multinuclear chain is one constituent.

    With `n_ary`, so is each nucleus with the satellites joined to it, if reading these gives the same nodes.
    """
    merged: list[list[int]] = []
    # The child that stands for an EDU or a node, by `edus` plus index.
    child_of = [*range(tree.edus), *([-1] * len(tree.nodes))]
    levels = _satellite_levels(tree) if n_ary else set()
    for position, parent in enumerate(tree.parents[0].tolist()):
        node, above = tree.nodes[position], tree.nodes[parent]
        chained = parent >= 0 and node.first > above.first and above.nuclearity == "NN" and node.joined is not False
        if (chained and _continues(node, above.relation)) or position in levels:
            child_of[tree.edus + position] = child_of[tree.edus + parent]
            merged[child_of[tree.edus + parent] - tree.edus].append(position)
        else:
            child_of[tree.edus + position] = tree.edus + len(merged)
            merged.append([position])
    return [_constituent(tree, positions, child_of) for positions in merged]


def _constituent(tree: RSTTree, positions: list[int], child_of: list[int]) -> Constituent:
    """Return the constituent of nodes, given from the highest to the lowest."""
    lowest = tree.nodes[positions[-1]]
    chain = positions if lowest.nuclearity == "NN" else positions[-1:]
    own = child_of[tree.edus + positions[0]]
    children = [child_of[child] for position in chain for child in tree.children(tree.edus + position)]
    outer = []
    for position in reversed(positions[: -len(chain)]):
        node = tree.nodes[position]
        satellite = tree.children(tree.edus + position)[node.nuclearity.index("S")]
        outer.append((child_of[satellite], node.relation))
    return Constituent(
        lowest.nuclearity, lowest.relation, tuple(child for child in children if child != own), (*outer,)
    )


def _satellite_levels(tree: RSTTree) -> set[int]:
    """Return the nodes that are one constituent with the node above, which adds a satellite to their nucleus.

    If reading would attach the satellites of a nucleus in another order, none of its nodes are returned.
    """
    nucleus = tree.nucleus[0].tolist()
    levels: list[list[int]] = []
    level_of: list[list[int]] = []
    for position, parent in enumerate(tree.parents[0].tolist()):
        node = tree.nodes[position]
        joined = parent >= 0 and node.joined and nucleus[position]
        if joined and "S" in node.nuclearity and "S" in tree.nodes[parent].nuclearity:
            level_of.append(level_of[parent])
            level_of[-1].append(position)
        else:
            level_of.append([position])
            levels.append(level_of[-1])
    found: set[int] = set()
    for level in levels:
        if len(level) > 1 and _in_order([tree.nodes[position] for position in reversed(level)]):
            found.update(level[1:])
    return found


def _in_order(level: Sequence[Node]) -> bool:
    """Return whether nodes, from the lowest to the highest, have their satellites in the order of `from_nearest`."""
    sides = [_sides(node) for node in level]
    satellites = [satellite for _, satellite in sides]
    return list(from_nearest(sides[0][0], satellites)) == satellites


def _sides(node: Node) -> tuple[Part, Part]:
    """Return the EDUs that the nucleus and the satellite of a node cover."""
    left, right = Part(node.first, node.split), Part(node.split + 1, node.last)
    return (left, right) if node.nuclearity == "NS" else (right, left)


def top_down(
    items: Sequence[Any], parents: Sequence[int], link: str, source: str, *, one_root: bool = True
) -> list[tuple[int, list[int]]]:
    """Return all items, parents before children, each with its children in order.

    Args:
        items: Parts of the file with their `line`; errors name them by `str`.
        parents: The parent of each item; a root has a negative one.
        link: What the format calls a parent.
        source: The file's name, for errors.
        one_root: Whether several roots are an error.

    Raises:
        FormatError: Several roots, or a circle.
    """
    children: list[list[int]] = [[] for _ in parents]
    roots: list[int] = []
    for item, parent in enumerate(parents):
        (roots if parent < 0 else children[parent]).append(item)
    if one_root and len(roots) > 1:
        first, second = (items[root] for root in roots[:2])
        message = (
            f"expected one root, got {len(roots)}: {first} and {second} have no {link}; "
            f"--roots join (Python: roots='join') joins them under the relation '{UNATTACHED}', drop leaves out all "
            "but the largest"
        )
        raise FormatError(message, source=source, line=second.line)
    order, stack = [], list(roots)
    while stack:
        order.append(stack.pop())
        stack.extend(children[order[-1]])
    if len(order) < len(items):
        lost = items[min(set(range(len(items))) - set(order))]
        message = f"{lost}: expected a root above it, its {link}s form a cycle; correct the {link} of one of them"
        raise FormatError(message, source=source, line=lost.line)
    return [(item, children[item]) for item in order]
