"""RST constituency trees: stored flat, validated, and traversed without recursion."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discsum.errors import TreeError
from discsum.format_registry import FORMATS

NUCLEARITIES = ("NS", "SN", "NN")
_SEPARATORS = str.maketrans("", "", "-_ ")


def relation_class(relation: str) -> str:
    """Return the coarse class of a GUM relation: the part before the first `-`.

    `same-unit` is not a relation between propositions and stays a class of its own.
    """
    return relation if is_same_unit(relation) else relation.split("-", 1)[0]


def is_same_unit(relation: str) -> bool:
    """Return whether a relation continues an interrupted EDU: `same-unit`, `Same-Unit`, `sameunit`, by treebank."""
    return relation.translate(_SEPARATORS).casefold() == "sameunit"


def is_attribution(relation: str) -> bool:
    """Return whether a relation introduces what somebody says or thinks: `attribution-positive`, `Attribution`."""
    return relation.casefold().startswith("attribution")


def uncached(instance: Any) -> dict[str, Any]:
    """Return the attributes of an object without its cached properties, whose arrays would be writable in a copy."""
    return {
        name: value
        for name, value in vars(instance).items()
        if not isinstance(getattr(type(instance), name, None), cached_property)
    }


def read_only(array: NDArray[Any]) -> NDArray[Any]:
    """Return the array, which can no longer be changed: trees and documents keep what they computed."""
    array.flags.writeable = False
    return array


def check_tree(tree: RSTTree) -> None:
    """Raise `TypeError` for anything other than a tree, such as a document."""
    if not isinstance(tree, RSTTree):
        remedy = "; a document has it as document.tree" if hasattr(tree, "tree") else ""
        remedy = "; a text without words has no tree" if tree is None else remedy
        raise TypeError(f"expected an RSTTree, got {type(tree).__name__}{remedy}")


@dataclass(frozen=True, slots=True)
class Node:
    """One internal node of an `RSTTree`.

    Attributes:
        first: Index of the first EDU covered.
        last: Index of the last EDU covered (inclusive).
        split: Index of the last EDU of the left child, `first <= split < last`.
        nuclearity: `NS`, `SN` or `NN`: the roles of the left and the right child.
        relation: Relation between the children, such as `elaboration-additional`.
        probability: The parser's confidence in this node, in [0, 1]; 1 for trees from treebanks.
        joined: Whether the node and the node above it are one constituent of an n-ary tree, such as a nucleus with two
            satellites, or a list of three. None leaves that to the format that is written. Trees with the same nodes
            are equal whatever `joined` is.
    """

    first: int
    last: int
    split: int
    nuclearity: str
    relation: str
    probability: float = 1.0
    joined: bool | None = field(default=None, compare=False)

    def __str__(self) -> str:
        """Return the node as error messages name it."""
        return f"({self.first}-{self.split} | {self.split + 1}-{self.last}, {self.nuclearity} {self.relation})"


@dataclass(frozen=True, repr=False)
class RSTTree:
    """A full binary tree over `edus` EDUs, its internal nodes in pre-order.

    A document of one EDU has no node. Left and right children follow from the order alone: the left
    child of node `p` is node `p + 1` if it covers several EDUs, the right child is node
    `p + 1 + (split - first)`. Nothing here recurses, so a right-branching tree of any depth is fine.

    Raises:
        TypeError: A single node in place of several.
        TreeError: The nodes do not form a full binary tree over the EDUs; the message names the first bad node.
    """

    edus: int
    nodes: tuple[Node, ...] = ()

    def __init__(self, edus: int, nodes: Iterable[Node | Mapping[str, Any]] = ()) -> None:
        """Take nodes as `Node` or as mappings with the same fields, in pre-order, and check them."""
        if not isinstance(nodes, Iterable) or isinstance(nodes, Mapping):
            raise TypeError(f"nodes: expected several nodes, got one {type(nodes).__name__}")
        object.__setattr__(self, "edus", edus)
        object.__setattr__(self, "nodes", tuple(_to_node(position, node) for position, node in enumerate(nodes)))
        _check(edus, self.nodes)

    def __repr__(self) -> str:
        """Return one line: how many EDUs, and the root."""
        return f"RSTTree(edus={self.edus}{f', root={self.nodes[0]}' if self.nodes else ''})"

    def __getstate__(self) -> dict[str, Any]:
        """Return what is pickled and copied."""
        return uncached(self)

    def _repr_html_(self) -> str:
        return FORMATS["html"].preview(self)

    @classmethod
    def from_unordered(cls, edus: int, nodes: Iterable[Node | Mapping[str, Any]]) -> RSTTree:
        """Return the tree of nodes that come in any order; errors as of `RSTTree`."""
        converted = [_to_node(position, node) for position, node in enumerate(nodes)]
        converted.sort(key=lambda node: (node.first, -node.last))
        return cls(edus, converted)

    def section(self, first: int, last: int) -> RSTTree:
        """Return the tree over the EDUs `first..last`: the nodes that have some of these EDUs in both children.

        Its EDUs are counted from 0.

        Raises:
            TreeError: EDUs that the tree does not have, or none.
        """
        if not 0 <= first <= last < self.edus:
            raise TreeError(f"expected a section of EDUs 0-{self.edus - 1}, got {first}-{last}")
        splits = self.spans[:, 2]
        nodes = [
            replace(
                node, first=max(node.first, first) - first, last=min(node.last, last) - first, split=node.split - first
            )
            for node in (self.nodes[index] for index in np.flatnonzero((splits >= first) & (splits < last)))
        ]
        return RSTTree(last - first + 1, nodes)

    @cached_property
    def spans(self) -> NDArray[np.int64]:
        """`(nodes, 3)`: first, last and split of every node, in pre-order."""
        rows = [(node.first, node.last, node.split) for node in self.nodes]
        return read_only(np.array(rows, dtype=np.int64).reshape(-1, 3))

    @cached_property
    def parents(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Parents of the nodes `(nodes,)` and of the EDUs `(edus,)` as node indices; -1 above the root."""
        node_parent = np.full(len(self.nodes), -1, dtype=np.int64)
        edu_parent = np.full(self.edus, -1, dtype=np.int64)
        first, last, split = self.spans.T
        index = np.arange(len(self.nodes))
        left_inner, right_inner = split > first, split + 1 < last
        node_parent[index[left_inner] + 1] = index[left_inner]
        node_parent[(index + 1 + split - first)[right_inner]] = index[right_inner]
        edu_parent[first[~left_inner]] = index[~left_inner]
        edu_parent[last[~right_inner]] = index[~right_inner]
        return read_only(node_parent), read_only(edu_parent)

    @cached_property
    def depths(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Depths of the inner nodes `(nodes,)` and of the EDUs `(edus,)`: number of edges below the root."""
        # A parent of -1 takes the last entry.
        depths = np.array([0] * len(self.nodes) + [-1], dtype=np.int64)
        for index, parent in enumerate(self.parents[0].tolist()):
            depths[index] = depths[parent] + 1
        return read_only(depths[:-1]), read_only(depths[self.parents[1]] + 1)

    @cached_property
    def nucleus(self) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Whether each node `(nodes,)` and each EDU `(edus,)` is a nucleus of its parent; the root counts as one."""
        # A parent of -1 takes the last entry of each array: the root counts as a nucleus.
        left = np.array([*(node.nuclearity[0] == "N" for node in self.nodes), True])
        right = np.array([*(node.nuclearity[1] == "N" for node in self.nodes), True])
        split = np.append(self.spans[:, 2], 0)
        nodes, edus = (
            np.where(start <= split[parent], left[parent], right[parent])
            for parent, start in zip(self.parents, (self.spans[:, 0], np.arange(self.edus)), strict=True)
        )
        return read_only(nodes), read_only(edus)

    def children(self, index: int) -> tuple[int, int]:
        """Return the left and the right child of a node; nodes are given and returned as `edus` plus their index.

        Raises:
            TreeError: An EDU, or no such node.
        """
        if not self.nodes:
            raise TreeError(f"expected a node, got {index} in a tree over one EDU, which has none")
        if not self.edus <= index < self.edus + len(self.nodes):
            raise TreeError(
                f"expected a node from {self.edus} to {self.edus + len(self.nodes) - 1} ({self.edus} EDUs come first), "
                f"got {index}"
            )
        node = self.nodes[index - self.edus]
        left = node.first if node.split == node.first else index + 1
        right = node.last if node.split + 1 == node.last else index + 1 + node.split - node.first
        return left, right

    def to_dicts(self) -> list[dict[str, Any]]:
        """Return the nodes as plain dictionaries, in pre-order; `joined` is left out where it is None."""
        return [
            {name: value for name, value in asdict(node).items() if name != "joined" or value is not None}
            for node in self.nodes
        ]


def _to_node(position: int, node: Node | Mapping[str, Any]) -> Node:
    try:
        given = node if isinstance(node, Node) else Node(**node)
    except TypeError as error:
        wanted = ", ".join(Node.__dataclass_fields__)
        raise TreeError(f"node {position}: expected the fields {wanted}, got {node!r}") from error
    ends, joined = (given.first, given.last, given.split), given.joined
    # First, because checks for other kinds of numbers are slow.
    usual = [*map(type, ends), type(given.probability)] == [int, int, int, float]
    if usual and (joined is None or joined is True or joined is False):
        return given
    for name, value in zip(("first", "last", "split"), ends, strict=True):
        if not isinstance(value, Integral) or isinstance(value, bool):
            raise TreeError(f"node {position}: expected {name} to be a whole number, got {value!r}")
    if not isinstance(given.probability, Real) or isinstance(given.probability, bool):
        raise TreeError(f"node {position}: expected probability to be a number, got {given.probability!r}")
    if joined is not None and not isinstance(joined, bool):
        raise TreeError(f"node {position}: expected joined to be true, false or left out, got {joined!r}")
    # NumPy's numbers cannot be written as JSON.
    first, last, split = map(int, ends)
    return replace(given, first=first, last=last, split=split, probability=float(given.probability))


def _check(edus: int, nodes: tuple[Node, ...]) -> None:
    if not isinstance(edus, Integral) or isinstance(edus, bool):
        raise TreeError(f"expected a whole number of EDUs, got {edus!r}")
    if edus < 1:
        raise TreeError(f"expected a tree over at least one EDU, got {edus}")
    if len(nodes) != edus - 1:
        raise TreeError(f"expected {edus - 1} nodes over {edus} EDUs, got {len(nodes)}")
    expected = [(0, edus - 1)] if edus > 1 else []
    for position, node in enumerate(nodes):
        first, last = expected.pop()
        if (node.first, node.last) != (first, last):
            raise TreeError(f"node {position} {node}: expected the next node in pre-order to cover EDUs {first}-{last}")
        if fault := _fault(node):
            raise TreeError(f"node {position} {node}: expected {fault}")
        if node.split + 1 < node.last:
            expected.append((node.split + 1, node.last))
        if node.first < node.split:
            expected.append((node.first, node.split))


def _fault(node: Node) -> str:
    """Return what was expected of a node that is invalid; empty if the node is valid."""
    if not node.first <= node.split < node.last:
        return f"a split in {node.first}..{node.last - 1}, got {node.split}"
    if node.nuclearity not in NUCLEARITIES:
        return f"nuclearity {', '.join(NUCLEARITIES)}, got {node.nuclearity!r}"
    if not isinstance(node.relation, str) or not node.relation:
        return f"the name of a relation, got {node.relation!r}"
    if not 0.0 <= node.probability <= 1.0:
        return f"a probability in [0, 1], got {node.probability}"
    return ""
