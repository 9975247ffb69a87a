from importlib.metadata import version

import numpy as np
import pytest

from discsum.errors import InputError
from discsum.metrics.significance import bootstrap_interval, paired_bootstrap
from discsum.signature import Signature


def test_by_hand():
    # Differences -1 and 3, d = 1. Of two draws the mean is -1, 1 or 3 with probability 1/4, 1/2, 1/4;
    # |d_b - d| >= |d| in the first and last: p = 1/2.
    result = paired_bootstrap([0, 5], [1, 2], samples=20_000)
    assert result.difference == 1
    assert (result.low, result.high) == (-1, 3)
    assert result.p_value == pytest.approx(0.5, abs=0.02)
    # Differences 1 and 3, d = 2: no draw is as far from 2 as 2 is from 0.
    assert paired_bootstrap([2, 5], [1, 2], samples=99).p_value == 1 / 100


def test_equal_systems():
    result = paired_bootstrap([0.1, 0.2, 0.3], [0.1, 0.2, 0.3])
    assert (result.difference, result.low, result.high, result.p_value) == (0, 0, 0, 1)


def test_p_values_are_uniform_under_the_null_and_small_under_a_real_difference():
    generator = np.random.default_rng(7)
    base = generator.normal(size=(300, 80))
    noise = generator.normal(size=(300, 80))
    null = [paired_bootstrap(row, row + extra, samples=400).p_value for row, extra in zip(base, noise, strict=True)]
    assert 0.02 < np.mean(np.array(null) < 0.05) < 0.10
    assert 0.4 < np.mean(null) < 0.6
    assert paired_bootstrap(base[0] + 1 + 0.1 * noise[0], base[0], samples=999).p_value == 1 / 1000


def test_interval_covers_the_mean():
    generator = np.random.default_rng(3)
    intervals = [bootstrap_interval(generator.normal(2, 1, 60), samples=500) for _ in range(200)]
    assert 0.88 < np.mean([one.low <= 2 <= one.high for one in intervals]) < 0.99
    assert all(one.low <= one.mean <= one.high for one in intervals)


def test_seeded_symmetric_and_signed():
    first, second = np.random.default_rng(1).random((2, 50))
    forth, back = paired_bootstrap(first, second), paired_bootstrap(second, first)
    assert forth == paired_bootstrap(first, second)
    assert forth != paired_bootstrap(first, second, seed=1)
    assert (forth.p_value, forth.difference) == (back.p_value, -back.difference)
    assert str(forth.signature) == f"paired-bs:10000|rs:12345|ci:0.95|sides:2|docs:50|version:{version('discsum')}"
    assert bootstrap_interval(first).signature == Signature.of(bs=10000, rs=12345, ci=0.95, docs=50)


def test_blocks_do_not_change_the_draws(monkeypatch):
    values = np.random.default_rng(1).random(50)
    whole = bootstrap_interval(values, samples=1000)
    monkeypatch.setattr("discsum.metrics.significance._BLOCK", 777)
    assert bootstrap_interval(values, samples=1000) == whole


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: paired_bootstrap([1, 2], [1]), "the same documents, got 2 and 1"),
        (lambda: bootstrap_interval([]), "a score for every document"),
        (lambda: bootstrap_interval([1, float("nan")]), "a score for every document"),
        (lambda: bootstrap_interval([1], confidence=95), "a confidence in"),
        (lambda: bootstrap_interval([1], samples=0), "at least one bootstrap sample"),
    ],
)
def test_what_does_not_fit_is_named(call, message):
    with pytest.raises(InputError, match=message):
        call()
