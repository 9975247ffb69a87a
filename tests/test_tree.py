import json

import numpy as np
import pytest
from small_trees import every_tree, leaves, random_tree

from discsum.errors import TreeError
from discsum.tree import Node, RSTTree, relation_class

NODE = {"nuclearity": "NS", "relation": "elaboration-additional"}


def restrict(nested, kept):
    """Return the nested tree of the kept leaves, straight from the definition."""
    if isinstance(nested, int):
        return nested if nested in kept else None
    left, right = restrict(nested[1], kept), restrict(nested[2], kept)
    if left is None or right is None:
        return right if left is None else left
    return (nested[0], left, right)


def spans_of(nested, shift):
    if isinstance(nested, int):
        return []
    covered = leaves(nested)
    here = (covered[0] - shift, covered[-1] - shift, leaves(nested[1])[-1] - shift, nested[0])
    return [here, *spans_of(nested[1], shift), *spans_of(nested[2], shift)]


def test_a_section_is_the_tree_of_its_edus():
    for edus in range(1, 6):
        for nested, tree in every_tree(edus):
            for first in range(edus):
                for last in range(first, edus):
                    section = tree.section(first, last)
                    found = [(node.first, node.last, node.split, node.nuclearity) for node in section.nodes]
                    assert found == spans_of(restrict(nested, set(range(first, last + 1))), first)


def test_a_section_outside_the_tree_is_an_error():
    with pytest.raises(TreeError, match="0-2"):
        random_tree(3, 0).section(1, 3)


def test_parents_and_roles():
    tree = RSTTree(3, [{"first": 0, "last": 2, "split": 0, **NODE}, Node(1, 2, 1, "SN", "causal-cause")])
    assert [part.tolist() for part in tree.parents] == [[-1, 0], [0, 1, 1]]
    assert [part.tolist() for part in tree.nucleus] == [[True, False], [True, False, True]]


@pytest.mark.parametrize("index", [-1, 0, 2, 5])
def test_what_has_no_children(index):
    tree = RSTTree(3, [Node(0, 2, 0, "NN", "joint-list"), Node(1, 2, 1, "NN", "joint-list")])
    assert [tree.children(3), tree.children(4)] == [(0, 4), (1, 2)]
    with pytest.raises(TreeError, match=r"expected a node from 3 to 4 \(3 EDUs come first\), got"):
        tree.children(index)


def test_a_tree_over_one_edu_has_no_node():
    with pytest.raises(TreeError, match="expected a node, got 0 in a tree over one EDU, which has none"):
        RSTTree(1).children(0)


def test_nodes_in_any_order():
    tree = random_tree(40, 3)
    assert RSTTree.from_unordered(40, reversed(tree.nodes)) == tree


@pytest.mark.parametrize(
    ("edus", "nodes", "message"),
    [
        (0, [], "at least one EDU"),
        (1.0, [], r"a whole number of EDUs, got 1\.0"),
        (True, [], "a whole number of EDUs, got True"),
        (2, [], "expected 1 nodes over 2 EDUs, got 0"),
        (2, [{"first": 0, "last": 2, "split": 0, **NODE}], "node 0 .*cover EDUs 0-1"),
        (2, [{"first": 0, "last": 1, "split": 1, **NODE}], "node 0 .*split in 0..0, got 1"),
        (2, [{"first": 0, "last": 1, "split": 0, "nuclearity": "SS", "relation": "x"}], "node 0 .*NS, SN, NN"),
        (2, [{"first": 0, "last": 1, "split": 0, "nuclearity": "NS", "relation": ""}], "node 0 .*relation"),
        (2, [{"first": 0, "last": 1, "split": 0, **NODE, "probability": 1.5}], r"node 0 .*\[0, 1\], got 1.5"),
        (2, [{"first": 0, "last": 1, **NODE}], "node 0: expected the fields first, last, split"),
        (
            3,
            [{"first": 0, "last": 2, "split": 0, **NODE}, {"first": 0, "last": 1, "split": 0, **NODE}],
            "node 1 .*cover EDUs 1-2",
        ),
    ],
)
def test_no_tree(edus, nodes, message):
    with pytest.raises(TreeError, match=message):
        RSTTree(edus, nodes)


def test_deep_trees_do_not_recurse():
    edus = 5000
    tree = RSTTree(edus, [Node(first, edus - 1, first, "NS", "x") for first in range(edus - 1)])
    assert tree.section(100, 4000).edus == 3901
    assert tree.parents[1][-1] == edus - 2


def test_relation_classes():
    assert [relation_class(name) for name in ("causal-result", "same-unit", "span")] == ["causal", "same-unit", "span"]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"split": "0"}, "node 0: expected split to be a whole number, got '0'"),
        ({"first": 0.0}, "node 0: expected first to be a whole number, got 0.0"),
        ({"probability": "x"}, "node 0: expected probability to be a number, got 'x'"),
    ],
)
def test_fields_of_another_type_are_named(change, message):
    node = {"first": 0, "last": 1, "split": 0, "nuclearity": "NS", "relation": "joint-list"}
    with pytest.raises(TreeError, match=message):
        RSTTree(2, [node | change])
    with pytest.raises(ValueError, match="node 0: expected the fields"):
        RSTTree(2, [5])


def test_numbers_of_numpy_are_converted():
    tree = RSTTree(2, [Node(np.int64(0), np.int64(1), np.int64(0), "NS", "cause", np.float32(0.5))])
    assert tree == RSTTree(2, [Node(0, 1, 0, "NS", "cause", 0.5)])
    assert json.dumps(tree.to_dicts())
    assert json.dumps(RSTTree(2, [Node(0, np.int64(1), 0, "NS", "cause")]).to_dicts())


@pytest.mark.parametrize("probability", [-0.1, float("nan")])
def test_probabilities_below_0_and_nan(probability):
    with pytest.raises(TreeError, match=r"node 0 .*a probability in \[0, 1\], got"):
        RSTTree(2, [Node(0, 1, 0, "NS", "x", probability)])
