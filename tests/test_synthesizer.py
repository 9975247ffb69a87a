import math

import numpy as np
import pytest
import torch
from small_trees import random_tree

from discsum.document import Span
from discsum.encoder.heads import HEADS, HeadConfig, make_head
from discsum.encoder.synthesizer import Synthesizer, SynthesizerConfig, sinusoids
from discsum.encoder.units import pool
from discsum.errors import InputError
from discsum.priors import c_tree_nuc, project_to_sentences


def count(module):
    return sum(parameter.numel() for parameter in module.parameters())


@pytest.mark.parametrize(
    ("value_size", "inner", "attention", "whole"),
    [(64, 3072, 0.2, 9.7), (512, 512, 1.6, 3.2)],
    ids=["default", "balanced"],
)
def test_parameters_as_the_paper_prints_them(value_size, inner, attention, whole):
    """Xiao et al. 2020, tables 2 and 3: millions of parameters of the tree heads, BERT left out."""
    network = Synthesizer(SynthesizerConfig(width=768, value_size=value_size, inner=inner))
    parts = sum(count(layer.attention) + count(layer.value) + count(layer.output) for layer in network.layers)
    assert round(parts / 1e6, 1) == attention
    assert round(count(network) / 1e6, 1) == whole


def inputs(seed, units):
    torch.manual_seed(seed)
    tree = random_tree(units, seed)
    prior = torch.from_numpy(HEADS["c_tree_nuc"].prior(tree, None, units))
    return torch.randn(units, 16), torch.randn(units, 3), prior


def test_padding_changes_no_score():
    network = Synthesizer(SynthesizerConfig(width=16, features=3, inner=32, scorer=8)).eval()
    documents = [inputs(seed, units) for seed, units in enumerate((7, 3, 12))]
    alone = [
        network(vectors[None], features[None], prior[None], torch.ones(1, len(vectors), dtype=torch.bool))[0]
        for vectors, features, prior in documents
    ]
    longest = 15
    vectors, features = torch.randn(3, longest, 16), torch.randn(3, longest, 3)
    prior, mask = torch.zeros(3, longest, longest), torch.zeros(3, longest, dtype=torch.bool)
    for row, (own_vectors, own_features, own_prior) in enumerate(documents):
        units = len(own_vectors)
        vectors[row, :units], features[row, :units] = own_vectors, own_features
        prior[row, :units, :units], mask[row, :units] = own_prior, True
    together = network(vectors, features, prior, mask)
    for row, expected in enumerate(alone):
        torch.testing.assert_close(together[row, : len(expected)], expected)


def test_a_layer_is_the_formula():
    """`X_out = A . G(X)`, added and normalised, then the feed-forward layer likewise."""
    network = Synthesizer(SynthesizerConfig(width=16, inner=32, scorer=8, layers=1)).eval()
    vectors, _, prior = inputs(1, 9)
    layer = network.layers[0]
    states = vectors * math.sqrt(16) + sinusoids(0, 9, 16, vectors.device)
    states = layer.attention_norm(states + layer.output(prior @ layer.value(states)))
    states = layer.feed_forward_norm(states + layer.feed_forward(states))
    mask = torch.ones(1, 9, dtype=torch.bool)
    found = network(vectors[None], torch.zeros(1, 9, 0), prior[None], mask)[0]
    torch.testing.assert_close(found, network.scorer(states).squeeze(-1))


def test_sinusoids():
    table = sinusoids(2, 3, 6, torch.device("cpu"))
    for row, position in enumerate((2, 3, 4)):
        for pair in range(3):
            angle = position / 10_000 ** (2 * pair / 6)
            assert table[row, 2 * pair] == pytest.approx(math.sin(angle), abs=1e-6)
            assert table[row, 2 * pair + 1] == pytest.approx(math.cos(angle), abs=1e-6)


def test_the_prior_of_both_units():
    tree = random_tree(8, 5)
    sentences = np.array([0, 0, 1, 1, 1, 3, 3, 3])
    head = HEADS["c_tree_nuc"]
    np.testing.assert_array_equal(head.prior(tree, None, 8), c_tree_nuc(tree))
    np.testing.assert_array_equal(head.prior(tree, sentences, 5), project_to_sentences(c_tree_nuc(tree), sentences, 5))


def test_an_unknown_head():
    with pytest.raises(InputError, match=r"c_tree_nuc.*got 'oak'"):
        make_head("oak", HeadConfig(16))


def test_pooling_takes_each_units_own_subwords():
    vectors = torch.arange(12.0).view(6, 2)
    starts = np.array([1, 4, 7, 10, 13, 16])
    pooled = pool(vectors, starts, [Span(0, 6), Span(7, 9), Span(9, 10), Span(10, 20)])
    expected = [vectors[:2].mean(0), vectors[2], torch.zeros(2), vectors[3:].mean(0)]
    torch.testing.assert_close(pooled, torch.stack(expected))
    assert pool(vectors, starts, []).shape == (0, 2)
