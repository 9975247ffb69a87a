import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discsum.training.sampling import GROUP, Batches, systematic


@given(
    weights=st.lists(st.floats(0.01, 100), min_size=1, max_size=30), count=st.integers(1, 200), seed=st.integers(0, 99)
)
def test_each_comes_as_often_as_its_weight_says(weights, count, seed):
    weights = np.array(weights)
    drawn = systematic(weights, count, np.random.default_rng(seed))
    assert len(drawn) == count
    often = np.bincount(drawn, minlength=len(weights))
    expected = weights / weights.sum() * count
    assert len(often) == len(weights)
    assert (np.abs(often - expected) < 1 + 1e-6).all()


def test_on_average_the_shares_are_exact():
    weights = np.array([1.0, 2.5, 0.3])
    drawn = np.concatenate([systematic(weights, 4, np.random.default_rng(seed)) for seed in range(4000)])
    np.testing.assert_allclose(np.bincount(drawn) / len(drawn), weights / weights.sum(), atol=0.01)


def test_a_pass_has_every_document():
    lengths = np.arange(1, 41)
    batches = Batches(lengths, np.ones(40), batch=8, seed=3)
    assert batches.steps == 5
    passes = [np.concatenate([batches[5 * number + step] for step in range(5)]) for number in range(2)]
    for drawn in passes:
        assert sorted(drawn) == list(range(40))
    assert passes[0].tolist() != passes[1].tolist()


def test_a_step_is_the_same_wherever_a_run_begins():
    lengths, weights = np.random.default_rng(0).integers(1, 50, 37), np.random.default_rng(1).random(37)
    undisturbed = Batches(lengths, weights, batch=4, seed=1)
    steps = [undisturbed[step].tolist() for step in range(25)]
    for first in (3, 9, 24):
        assert Batches(lengths, weights, batch=4, seed=1)[first].tolist() == steps[first]
    assert Batches(lengths, weights, batch=4, seed=2)[0].tolist() != steps[0]


def test_batches_hold_documents_of_like_length():
    lengths = np.random.default_rng(0).integers(1, 200, GROUP * 32)
    batches = Batches(lengths, np.ones(len(lengths)), batch=32, seed=1)
    spread = [np.ptp(lengths[batches[step]]) for step in range(batches.steps)]
    assert max(spread) < 60 < np.ptp(lengths)


@pytest.mark.parametrize("documents", [1, 3])
def test_fewer_documents_than_a_batch(documents):
    batches = Batches(np.ones(documents, dtype=int), np.ones(documents), batch=4, seed=1)
    assert (batches.steps, len(batches[7])) == (1, 4)
    assert set(batches[0].tolist()) == set(range(documents))
