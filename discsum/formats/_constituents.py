"""Between the n-ary trees of files and the binary trees of discsum, in both directions.

Files allow a nucleus several satellites and a multinuclear relation several nuclei. Reading makes them
binary with one fixed order, `assemble`: nuclei branch to the right, satellites wrap them from the nearest
outward. Writing undoes the first half, `constituents`: nuclei that branch to the right under one relation
are a single multinuclear constituent, as an annotator would draw it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from discsum.tree import Node, RSTTree


@dataclass(frozen=True, slots=True)
class Part:
    """A stretch of EDUs that becomes part of a larger one.

    Attributes:
        first: Index of its first EDU.
        last: Index of its last EDU (inclusive).
        relation: Its relation to the rest: a satellite's to its nucleus, a nucleus's to the other nuclei.
        line: Where it stands in the file, for errors.
    """

    first: int
    last: int
    relation: str = ""
    line: int | None = None


class DiscontinuousError(ValueError):
    """Parts that leave a gap or overlap; carries the part that does."""

    def __init__(self, whole: Part, part: Part) -> None:
        """Describe the gap or overlap of `part` beside `whole`."""
        place = f"EDUs {part.first + 1}-{part.last + 1}"
        super().__init__(f"expected a continuous span, got {place} beside EDUs {whole.first + 1}-{whole.last + 1}")
        self.part = part


def assemble(nuclei: Sequence[Part], satellites: Sequence[Part], nodes: list[Node]) -> Part:
    """Append the binary nodes that join the parts to `nodes`; return what they cover.

    Raises:
        DiscontinuousError: Parts that do not adjoin each other.
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
    """Append the right-branching nodes over the nuclei; return what they cover."""
    ordered = sorted(nuclei, key=lambda part: part.first)
    for before, after in pairwise(ordered):
        if before.last + 1 != after.first:
            raise DiscontinuousError(before, after)
    last = ordered[-1].last
    for nucleus in ordered[:-1]:
        nodes.append(Node(nucleus.first, last, nucleus.last, "NN", nucleus.relation))
    return Part(ordered[0].first, last)


def join_satellite(nucleus: Part, satellite: Part, nodes: list[Node]) -> Part:
    """Append the node that joins the satellite to its nucleus; return what it covers."""
    if satellite.last + 1 == nucleus.first:
        nodes.append(Node(satellite.first, nucleus.last, satellite.last, "SN", satellite.relation))
    elif nucleus.last + 1 == satellite.first:
        nodes.append(Node(nucleus.first, satellite.last, nucleus.last, "NS", satellite.relation))
    else:
        raise DiscontinuousError(nucleus, satellite)
    return Part(min(nucleus.first, satellite.first), max(nucleus.last, satellite.last))


@dataclass(frozen=True, slots=True)
class Constituent:
    """A node of the tree with its children, more than two if it is multinuclear.

    Attributes:
        nuclearity: `NS`, `SN` or `NN`, as of a binary node.
        relation: Relation between the children.
        children: In text order. Below `edus` the index of an EDU; from there on, `edus` plus the index of
            a constituent.
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
    owner, tops = _owners(tree)
    children: list[list[int]] = [[] for _ in tops]
    for position, node in enumerate(tree.nodes):
        left, right = position + 1, position + 1 + node.split - node.first
        members = children[owner[position]]
        members.append(node.first if node.split == node.first else tree.edus + owner[left])
        if node.split + 1 == node.last:
            members.append(node.last)
        elif owner[right] != owner[position]:
            members.append(tree.edus + owner[right])
    return [
        Constituent(tree.nodes[top].nuclearity, tree.nodes[top].relation, tuple(members))
        for top, members in zip(tops, children, strict=True)
    ]


def _owners(tree: RSTTree) -> tuple[list[int], list[int]]:
    """Return the constituent of every node, and the topmost node of every constituent."""
    owner: list[int] = []
    tops: list[int] = []
    for position, parent in enumerate(tree.parents[0].tolist()):
        node, above = tree.nodes[position], tree.nodes[parent]
        chained = parent >= 0 and node.first > above.first and node.nuclearity == above.nuclearity == "NN"
        if chained and node.relation == above.relation:
            owner.append(owner[parent])
        else:
            owner.append(len(tops))
            tops.append(position)
    return owner, tops
