import math

import numpy as np
import pytest
import torch
from small_trees import random_tree

from discsum.encoder.heads import HEADS, HeadConfig, UnitTree
from discsum.encoder.synthesizer import InputBatch, Synthesizer, SynthesizerConfig, sinusoids


def inputs(seed, units):
    torch.manual_seed(seed)
    matrix = HEADS["c_tree_nuc"].prior(UnitTree(random_tree(units, seed), np.zeros(units)), HeadConfig(16))["matrix"]
    return torch.randn(units, 16), torch.from_numpy(matrix)


@pytest.mark.parametrize("scaled", [True, False])
def test_a_layer_is_the_formula(scaled):
    """`X_out = A . G(X)`, added and normalised, then the feed-forward layer likewise."""
    network = Synthesizer(SynthesizerConfig(width=16, inner=32, scorer=8, layers=1, scaled=scaled)).eval()
    vectors, prior = inputs(1, 9)
    layer = network.layers[0]
    states = vectors * (math.sqrt(16) if scaled else 1.0) + sinusoids(0, 9, 16, vectors.device)
    states = layer.attention_norm(states + layer.output(prior @ layer.value(states)))
    states = layer.feed_forward_norm(states + layer.feed_forward(states))
    mask = torch.ones(1, 9, dtype=torch.bool)
    found = network(InputBatch(vectors[None], torch.zeros(1, 9, 0), {"matrix": prior[None]}, mask))[0]
    torch.testing.assert_close(found, network.scorer(states).squeeze(-1))


def test_sinusoids():
    table = sinusoids(2, 3, 6, torch.device("cpu"))
    for row, position in enumerate((2, 3, 4)):
        for pair in range(3):
            angle = position / 10_000 ** (2 * pair / 6)
            assert table[row, 2 * pair] == pytest.approx(math.sin(angle), abs=1e-6)
            assert table[row, 2 * pair + 1] == pytest.approx(math.cos(angle), abs=1e-6)
