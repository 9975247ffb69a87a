"""Labels of nodes: what each one's depend on."""

import pytest
import tiny
import torch
from small_trees import random_tree

from discsum.parsers.labels import PIECE, LabelScorer, choose


@pytest.fixture
def scorer():
    torch.manual_seed(1)
    return LabelScorer(tiny.LABELS, hidden=8, inner=12).eval()


@pytest.mark.parametrize("edus", [2, PIECE + 1, 2 * PIECE + 50])
def test_nodes_are_labelled_each_on_its_own(scorer, edus):
    states, openings = torch.randn(edus, 8), torch.randint(0, 4, (edus,))
    nodes = torch.tensor([(node.first, node.last, node.split) for node in random_tree(edus, 3).nodes])
    with torch.inference_mode():
        logits = scorer(states, openings, nodes)
        assert logits.shape == (edus - 1, len(tiny.LABELS))
        for index in {0, min(PIECE, edus - 2), edus - 2}:
            torch.testing.assert_close(scorer(states, openings, nodes[index][None])[0], logits[index])


def test_no_node_has_no_label(scorer):
    logits = scorer(torch.randn(1, 8), torch.zeros(1, dtype=torch.long), torch.zeros(0, 3, dtype=torch.long))
    assert logits.shape == (0, len(tiny.LABELS))
    assert choose(logits, scorer).labels.shape == (0,)
