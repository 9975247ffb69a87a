from itertools import pairwise

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


@given(
    counts=st.lists(st.integers(1, 6), min_size=1, max_size=3),
    size=st.integers(1, 40),
    batch=st.integers(1, 8),
    seed=st.integers(0, 99),
)
def test_blocks_of_each_source_come_one_after_another(counts, size, batch, seed):
    """The blocks of a source, with `size` documents each, are drawn one after another in random order."""
    places = [(source, block) for source, count in enumerate(counts) for block in range(count) for _ in range(size)]
    blocks = np.array(places)
    source = blocks[:, 0]
    number = len(blocks)
    batches = Batches(np.ones(number, dtype=int), np.ones(number), batch, seed, blocks)
    drawn = np.concatenate([batches[step] for step in range(batches.steps)])
    assert set(drawn.tolist()) == set(range(number))
    # Within a group of batches, documents are in any order.
    groups = np.arange(len(drawn)) // (GROUP * batch)
    for place in range(len(counts)):
        own = source[drawn] == place
        spans = [groups[own & (blocks[drawn, 1] == block)] for block in range(counts[place])]
        for one, other in pairwise(sorted((span.min(), span.max()) for span in spans)):
            assert one[1] <= other[0]


def test_blocks_are_drawn_in_another_order_each_pass_and_mixed_with_other_sources():
    # One source has ten blocks of 64 documents and a last one of 8; the other has as many documents in one block.
    blocks = np.array([(0, number // 64) for number in range(648)] + [(1, 0)] * 648)
    batches = Batches(np.ones(1296, dtype=int), np.ones(1296), batch=4, seed=2, blocks=blocks)
    passes = [np.concatenate([batches[number * 324 + step] for step in range(324)]) for number in range(2)]
    firsts = [[index // 64 for index in drawn if index < 648] for drawn in passes]
    orders = [list(dict.fromkeys(first)) for first in firsts]
    assert sorted(orders[0]) == sorted(orders[1]) == list(range(11)) and orders[0] != orders[1]
    for drawn in passes:
        assert sorted(drawn.tolist()) == list(range(1296))
        shares = [np.mean(part < 648) for part in np.split(drawn, 12)]
        assert 0.35 < min(shares) <= max(shares) < 0.65
    # With one block, the order is the same as without blocks.
    plain = Batches(np.ones(50, dtype=int), np.ones(50), batch=4, seed=2)
    same = Batches(np.ones(50, dtype=int), np.ones(50), batch=4, seed=2, blocks=np.array([(0, 0)] * 50))
    assert [plain[step].tolist() for step in range(30)] == [same[step].tolist() for step in range(30)]
