import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from small_trees import document_of

from discsum.errors import InputError
from discsum.ranking import log_odds, ngrams
from discsum.selection import Budget, Policy, select


def brute_force(scores, texts, weight, count):
    """Return the units that are selected if all units are scored again after each selection."""
    odds = np.log(scores) - np.log1p(-scores)
    bigrams = [ngrams(text, 2) for text in texts]
    chosen, seen = [], set()
    for _ in range(min(count, len(texts))):
        left = [unit for unit in range(len(texts)) if unit not in chosen]
        values = [odds[unit] - weight * len(bigrams[unit] & seen) / max(1, len(bigrams[unit])) for unit in left]
        chosen.append(left[int(np.argmax(values))])
        seen |= bigrams[chosen[-1]]
    return sorted(chosen)


@settings(deadline=None)
@given(st.integers(1, 20), st.integers(0, 10**6), st.integers(1, 8), st.sampled_from([0.5, 4.0, 50.0]))
def test_the_queue_finds_what_scoring_all_units_again_finds(units, seed, count, weight):
    generator = np.random.default_rng(seed)
    texts = [" ".join(generator.choice(["red", "blue", "tin"], generator.integers(1, 6))) for _ in range(units)]
    scores = generator.choice([0.1, 0.4, 0.5, 0.9], units)
    policy = Policy(Budget(units=count), redundancy=weight)
    assert select(document_of([[text] for text in texts]), scores, policy) == brute_force(scores, texts, weight, count)


def test_a_unit_falls_by_the_share_that_it_repeats():
    document = document_of([["The mill burned down."], ["The mill burned on Monday."], ["It rained."]])
    # Two of the second unit's four bigrams are in the summary, so it loses half of the weight.
    scores = 1 / (1 + np.exp([-3.0, -2.0, -1.0]))
    for weight, expected in ((0.0, [0, 1]), (1.99, [0, 1]), (2.01, [0, 2])):
        assert select(document, scores, Policy(Budget(units=2), redundancy=weight)) == expected


def test_of_units_as_good_as_each_other_the_shorter_one_is_selected():
    document = document_of([["The mill by the river burned down."], ["The mill burned."], ["It rained."]])
    scores = 1 / (1 + np.exp([-1.0, 0.0, 1.0]))
    # The first two units have seven and three words.
    for weight, expected in ((0.0, [0]), (0.24, [0]), (0.26, [1])):
        assert select(document, scores, Policy(Budget(units=1), "edu", brevity=weight)) == expected
    # As sentences, all are too short to be penalized.
    assert select(document, scores, Policy(Budget(units=1), brevity=9.0)) == [0]
    long = document_of([["word " * 23 + "end."], ["A short one."]])
    # The first sentence has four words beyond the twentieth.
    for weight, expected in ((0.24, [0]), (0.26, [1])):
        assert select(long, scores[:2], Policy(Budget(units=1), brevity=weight)) == expected


def test_certain_units_can_still_fall_back():
    document = document_of([["One two three."], ["One two three."], ["Four five six."]])
    policy = Policy(Budget(units=2), redundancy=100.0)
    assert select(document, [1.0, 1.0, 0.0], policy) == [0, 2]


def test_ngrams():
    assert ngrams("The fox, the Fox!", 3) == {("the", "fox", "the"), ("fox", "the", "fox")}
    assert ngrams("Fox.", 2) == set()


def test_scores_that_are_no_probabilities():
    with pytest.raises(InputError, match=r"expected scores that are probabilities, got -2 to 0"):
        log_odds(np.array([-2.0, 0.0]))


@pytest.mark.parametrize("weight", [-1.0, float("nan"), float("inf"), True, "4"])
@pytest.mark.parametrize("name", ["redundancy", "brevity"])
def test_weights_that_are_none(name, weight):
    with pytest.raises(InputError, match=rf"^{name}: expected a number of at least 0, got"):
        Policy(Budget(units=2), **{name: weight})
