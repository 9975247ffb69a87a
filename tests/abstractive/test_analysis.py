"""The numbers behind the analyses."""

import numpy as np
import pytest
import torch
from tiny_bart import Inputs, make_bart

from discsum.abstractive.analysis.decoding_time import decoder_times, fit_time
from discsum.abstractive.analysis.sentences_read import retained
from discsum.abstractive.sparse import sparsify
from discsum.errors import InputError


def test_retained_mass_is_the_sum_of_the_best():
    inputs, found = Inputs(), []
    model = sparsify(make_bart(), selector="ideal")
    with model.sparse.using(observer=found.append), torch.no_grad():
        model(**inputs.forward, layout=inputs.layout)
    steps = list(np.ndindex(2, 6))
    curves = retained(found, 8) / len(steps)
    assert curves.shape == (2, 8)
    np.testing.assert_allclose(curves[:, 4:], 1.0, atol=1e-6)
    assert (np.diff(curves, axis=1) >= -1e-9).all()
    for layer, one in enumerate(found):
        for r in (1, 2, 3):
            values = []
            for document, step in steps:
                heads = one.attention[document, :, step].mean(dim=0).tolist()
                values.append(sum(sorted(heads, reverse=True)[:r]))
            assert curves[layer, r - 1] == pytest.approx(np.mean(values), rel=1e-5)


def test_a_time_model_is_found_again():
    random = np.random.default_rng(1)
    outputs, inputs = random.integers(50, 300, 30), random.integers(256, 1024, 30)
    true = np.array([2e-1, 7.6e-4, 6.3e-4, 2.9e-7, 1.5e-7, 1.6e-7])
    m, n = outputs.astype(float), inputs.astype(float)
    times = np.stack([np.ones(30), m, n, m * n, m**2, n**2], axis=1) @ true
    model = fit_time(outputs, inputs, times)
    np.testing.assert_allclose(model.coefficients, true, rtol=1e-6)
    assert model.r_squared == pytest.approx(1.0)
    assert model.relative["1"] == 1.0
    noisy = fit_time(outputs, inputs, times * (1 + 0.001 * random.standard_normal(30)))
    assert ((noisy.low < noisy.coefficients) & (noisy.coefficients < noisy.high)).all()
    assert noisy.r_squared > 0.99


def test_intervals_hold_the_truth_as_often_as_they_say():
    lengths = np.tile(np.arange(10, 100, 10), 2)
    random = np.random.default_rng(2)
    inside = 0
    for _ in range(300):
        times = 1.0 + 0.02 * lengths + 1e-4 * lengths**2 + 0.05 * random.standard_normal(len(lengths))
        model = fit_time(lengths, 1024, times)
        inside += bool(model.low[1] <= 0.02 <= model.high[1])
    assert 0.9 < inside / 300 < 0.99


def test_too_few_lengths():
    with pytest.raises(InputError, match="expected times for more than 3 different lengths"):
        fit_time([10, 10, 20, 20, 10], 1024, [1, 1, 2, 2, 1])
    with pytest.raises(InputError, match="got 4 samples of rank 3 with 3 times"):
        fit_time([1, 2, 3, 4], 1024, [1, 2, 3])


def test_the_time_of_selected_sentences_with_a_prior():
    model = sparsify(make_bart(), selector="mean_key", r=1, beta=0.5)
    (sample,) = decoder_times(model, [3], [50], 1, "generate")
    assert (sample.output, sample.input) == (3, 50)
    # A document of two sentences is otherwise read whole, because that is faster.
    last = model.sparse.last
    assert (last.path, last.sentences, last.read) == ("selected", (2,), (1,))
    assert model.sparse.call.dense_where_faster
