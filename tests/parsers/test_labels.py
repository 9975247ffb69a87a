"""Labels of nodes, and what they depend on."""

import numpy as np
import pytest
import tiny
import torch
from small_trees import random_tree

from discsum.parsers.labels import PIECE, LabelInputs, LabelScorer, child_heads, choose
from discsum.parsers.network_config import NetworkConfig
from discsum.tree import NUCLEARITIES, RSTTree

CONFIGS = [
    NetworkConfig(hidden=8, label_inner=12),
    NetworkConfig(hidden=8, label_inner=12, label_rank=4),
    NetworkConfig(hidden=8, label_inner=12, label_edges=5),
    NetworkConfig(hidden=8, label_inner=12, label_rank=4, label_edges=5, label_heads=True),
]


def make(config):
    torch.manual_seed(1)
    scorer = LabelScorer(tiny.LABELS, 6, config).eval()
    # Imitate training, because weights of optional inputs start at zero.
    for parameter in scorer.parameters():
        torch.nn.init.normal_(parameter, std=0.3)
    return scorer


def inputs(edus):
    return LabelInputs(torch.randn(edus, 8), torch.randint(0, 4, (edus,)), torch.randn(edus, 2, 5))


def rows(tree):
    return torch.tensor([(node.first, node.last, node.split) for node in tree.nodes]).reshape(-1, 3)


@pytest.mark.parametrize("config", CONFIGS)
@pytest.mark.parametrize("edus", [2, PIECE + 1, 2 * PIECE + 50])
def test_nodes_are_labelled_each_on_its_own_at_first(config, edus):
    scorer, document, nodes = make(config), inputs(edus), rows(random_tree(edus, 3))
    with torch.inference_mode():
        passes = scorer(document, nodes)
        assert len(passes) == 1 + config.label_heads
        assert {found.shape for found in passes} == {(edus - 1, len(tiny.LABELS))}
        for index in {0, min(PIECE, edus - 2), edus - 2}:
            torch.testing.assert_close(scorer(document, nodes[index][None])[0][0], passes[0][index])


@pytest.mark.parametrize("config", CONFIGS)
def test_no_node_has_no_label(config):
    scorer = make(config)
    logits = scorer(inputs(1), torch.zeros(0, 3, dtype=torch.long))[-1]
    assert logits.shape == (0, len(tiny.LABELS))
    assert choose(logits, scorer).labels.shape == (0,)


@pytest.mark.parametrize("config", CONFIGS)
def test_the_order_of_nodes_does_not_matter(config):
    scorer, document, nodes = make(config), inputs(40), rows(random_tree(40, 5))
    order = torch.randperm(39)
    with torch.inference_mode():
        torch.testing.assert_close(scorer(document, nodes[order])[-1], scorer(document, nodes)[-1][order])


def test_a_part_is_read_where_it_is_asked_for():
    document, nodes = inputs(9), rows(random_tree(9, 2))
    other = LabelInputs(document.states, document.openings, document.edges + 1)
    for config in CONFIGS:
        with torch.inference_mode():
            same = torch.equal(make(config)(document, nodes)[-1], make(config)(other, nodes)[-1])
        assert same == (not config.label_edges)


def test_heads_are_found_by_going_down_to_the_nucleus():
    def head(tree, first, last):
        """Return the head EDU of a span, found from the root down."""
        while first != last:
            (node,) = [node for node in tree.nodes if (node.first, node.last) == (first, last)]
            first, last = (node.split + 1, last) if node.nuclearity == "SN" else (first, node.split)
        return first

    for seed in range(5):
        tree: RSTTree = random_tree(30, seed)
        found = child_heads(rows(tree).numpy(), np.array([NUCLEARITIES.index(node.nuclearity) for node in tree.nodes]))
        for node, heads in zip(tree.nodes, found.tolist(), strict=True):
            assert heads == [head(tree, node.first, node.split), head(tree, node.split + 1, node.last)]
    # Over predicted EDUs, nodes may be missing; the head of a missing child is its first EDU.
    assert child_heads(np.array([[0, 9, 4]]), np.array([0])).tolist() == [[0, 5]]
