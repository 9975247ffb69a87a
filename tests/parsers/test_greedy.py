"""Greedy designs against naive ones."""

import math

import numpy as np
import pytest
import torch
from random_scores import random_scores, split_score, trees

from discsum.parsers.structure import DESIGNS


def naive_decode(edus, value):
    """Recursively split every span at its best border by `value(first, split, last)`."""

    def split_all(first, last):
        if first == last:
            return []
        best = max(range(first, last), key=lambda split: value(first, split, last))
        total = sum(math.exp(value(first, split, last) - value(first, best, last)) for split in range(first, last))
        return [(first, last, best, 1.0 / total), *split_all(first, best), *split_all(best + 1, last)]

    return split_all(0, edus - 1)


@pytest.mark.parametrize("edus", [1, 2, 3, 7, 30])
@pytest.mark.parametrize("name", ["top_down", "distance"])
def test_greedy_designs_against_naive_ones(name, edus):
    scores = random_scores(edus, seed=edus)

    def value(first, split, last):
        return (split_score(scores, first, split, last) if name == "top_down" else scores.strength[split]).item()

    with torch.no_grad():
        (found,) = DESIGNS[name].decode(scores)
    expected = naive_decode(edus, value)
    rows = [(*node, chance) for node, chance in zip(found.nodes.tolist(), found.probabilities, strict=True)]
    for ours, theirs in zip(sorted(rows), sorted(expected), strict=True):
        assert ours == pytest.approx(theirs, abs=1e-5)


@pytest.mark.parametrize("name", ["top_down", "distance"])
def test_greedy_losses(name):
    scores = random_scores(6, seed=3)
    gold = trees(0, 5)[17]
    total = 0.0
    for first, last, split in gold:
        values = [
            split_score(scores, first, border, last) if name == "top_down" else scores.strength[border]
            for border in range(first, last)
        ]
        total += torch.logsumexp(torch.stack(values), 0) - values[split - first]
    assert DESIGNS[name].loss(scores, [np.array(gold)]).item() == pytest.approx(total.item())
