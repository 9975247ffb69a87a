"""Losses against their formulas."""

import math

import pytest
import torch
from tiny_bart import Inputs, make_bart

from discsum.abstractive.sparse import sparsify
from discsum.abstractive.sparse.calls import Observation
from discsum.abstractive.sparse.objective import divergence_loss, sharpened, sparsity_loss
from discsum.errors import InputError


def observed(selector="mean_key"):
    inputs, found = Inputs(), []
    model = sparsify(make_bart(), selector=selector, r=2)
    with model.sparse.using(observer=found.append), torch.no_grad():
        model(**inputs.forward, layout=inputs.layout)
    steps = torch.ones(2, 6, dtype=torch.bool)
    steps[1, 4:] = False
    return found, inputs.layout, steps


def test_entropy_of_every_head():
    found, _, steps = observed()
    total, count = 0.0, 0
    for one in found:
        for document, step in steps.nonzero().tolist():
            for head in range(4):
                alpha = one.attention[document, head, step]
                total -= sum(value * math.log(value) for value in alpha.tolist() if value > 0)
                count += 1
    assert sparsity_loss(found, steps).item() == pytest.approx(total / count, rel=1e-4)


def test_entropy_of_uniform_attention_is_the_logarithm_of_the_sentences():
    even = torch.full((1, 2, 3, 5), 0.2)
    one = Observation(0, even, None, torch.ones(1, 3, 5, dtype=torch.bool))
    assert sparsity_loss([one], torch.ones(1, 3)).item() == pytest.approx(math.log(5), rel=1e-5)


@pytest.mark.parametrize("temperature", [1.0, 0.5])
def test_divergence_of_every_head(temperature):
    found, layout, steps = observed()
    total, count = 0.0, 0
    for one in found:
        for document, step in steps.nonzero().tolist():
            there = int(layout.mask[document].sum())
            for head in range(4):
                target = one.attention[document, head, step, :there] ** (1 / temperature)
                target = target / target.sum()
                total += float((target * (target.log() - one.predicted[document, head, step, :there])).sum())
                count += 1
    assert divergence_loss(found, layout, steps, temperature).item() == pytest.approx(total / count, rel=1e-4)


def test_what_predicts_attention_exactly_diverges_by_nothing():
    found, layout, steps = observed("ideal")
    assert divergence_loss(found, layout, steps).item() == pytest.approx(0, abs=1e-5)
    found, layout, steps = observed("random")
    assert divergence_loss(found, layout, steps).item() > 0.01
    with pytest.raises(InputError, match="layer 0: expected a selector that predicts, got none"):
        divergence_loss([Observation(0, found[0].attention, None, found[0].kept)], layout, steps)


def test_half_the_temperature_is_squared_and_renormalised():
    alpha = torch.tensor([0.5, 0.3, 0.2, 0.0])
    torch.testing.assert_close(sharpened(alpha, 0.5), alpha**2 / (alpha**2).sum())
    torch.testing.assert_close(sharpened(alpha, 1.0), alpha)
    # All powers of 300 small shares underflow.
    many = torch.softmax(torch.linspace(0, 2, 300), dim=0)
    torch.testing.assert_close(sharpened(many, 0.02), torch.softmax(many.double().log() / 0.02, dim=0).float())
    assert not sharpened(torch.zeros(2, 3), 0.5).any()
