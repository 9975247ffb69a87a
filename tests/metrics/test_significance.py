import warnings
from dataclasses import replace
from importlib.metadata import version

import numpy as np
import pytest

from discsum.errors import InputError, InputWarning
from discsum.experiments.measured_table import Figures
from discsum.experiments.teacher_forcing import Likelihood
from discsum.metrics.rouge import rouge
from discsum.metrics.significance import bootstrap_interval, paired_bootstrap, paired_bootstrap_f1
from discsum.signature import Signature

# What it is about has a test.
pytestmark = pytest.mark.filterwarnings("ignore:intervals and p-values are too small")


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


def test_weighted_means():
    generator = np.random.default_rng(3)
    first, second = generator.normal(size=(2, 40))
    # A document of weight w counts as w documents that are drawn together, so equal weights change nothing.
    plain = paired_bootstrap(first, second, samples=500)
    same = paired_bootstrap(first, second, weights=np.full(40, 7), samples=500)
    assert (same.difference, same.p_value) == pytest.approx((plain.difference, plain.p_value))
    assert str(same.signature) == str(plain.signature).replace("|version", "|weighted:yes|version")
    # One long document decides.
    result = paired_bootstrap([1, 1, 0], [0, 0, 1], weights=[1, 1, 98], samples=999)
    assert result.difference == pytest.approx(-0.96)
    # Against the definition.
    weights, drawn = generator.integers(1, 9, 40), np.random.default_rng(5).integers(40, size=(300, 40))
    found = paired_bootstrap(first, second, weights=weights, samples=300, seed=5)
    means = [np.average((first - second)[row], weights=weights[row]) for row in drawn]
    assert (found.low, found.high) == pytest.approx(tuple(np.percentile(means, [2.5, 97.5])))
    far = [abs(mean - found.difference) >= abs(found.difference) for mean in means]
    assert found.p_value == (1 + sum(far)) / 301
    for wrong in ([1, 2], np.zeros(40), np.full(40, np.nan)):
        with pytest.raises(InputError):
            paired_bootstrap(first, second, weights=wrong)


def learned(nats, tokens):
    return Likelihood(np.array(nats), np.array(tokens), np.zeros(len(tokens)))


def test_models_of_different_tokens_are_not_compared_by_them():
    scores = {"rouge1": np.array([1.0, 2.0])}
    one, two = (Figures(scores, learned([3.0, 4.0], tokens)) for tokens in ([5, 6], [5, 7]))
    assert one.compared(two).keys() == {"rouge1"}
    same = replace(two, likelihood=one.likelihood)
    assert one.compared(same).keys() == {"nats", "rouge1"}
    # The same numbers of words, but of another vocabulary, in which more of them may be unknown.
    assert one.compared(replace(same, vocabulary="other")).keys() == {"rouge1"}
    # The one with the lower perplexity is ahead, although its mean without weights is higher.
    better, worse = learned([3.3, 1.0], [2, 90]), learned([3.0, 1.2], [2, 90])
    difference = Figures(scores, better).compared(Figures(scores, worse))["nats"].difference
    assert better.perplexity < worse.perplexity and difference < 0
    assert np.exp(difference) == pytest.approx(better.perplexity / worse.perplexity)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: paired_bootstrap([1, 2], [1]), "the same documents, got 2 and 1"),
        (lambda: bootstrap_interval([]), "a score for every document"),
        (lambda: bootstrap_interval([1, float("nan")]), "a score for every document, got nan for the one at index 1"),
        (lambda: bootstrap_interval([1], confidence=95), "a confidence in"),
        (lambda: bootstrap_interval([1], samples=0), "at least one bootstrap sample"),
        (lambda: paired_bootstrap_f1([[3, 3, -3]], [[3, 2, 1]]), "expected counts of at least 0"),
        (lambda: paired_bootstrap_f1([[3, 3, 3]], [[3, 2, 3]]), "units in both that are at most those in each"),
    ],
)
def test_what_does_not_fit_is_named(call, message):
    with pytest.raises(InputError, match=message):
        call()


@pytest.mark.parametrize(("documents", "low", "high"), [(3, 0.25, 0.35), (10, 0.07, 0.12), (100, 0.03, 0.07)])
def test_few_documents_differ_by_chance_more_often_than_p_says(documents, low, high):
    differences = np.random.default_rng(documents).normal(size=(1000, documents))
    found = [paired_bootstrap(own, np.zeros(documents), samples=300).p_value < 0.05 for own in differences]
    assert low < np.mean(found) < high


def test_few_documents_are_told():
    for call in (
        lambda: bootstrap_interval([0.1] * 19),
        lambda: paired_bootstrap([0.1] * 19, [0.2] * 19),
        lambda: paired_bootstrap_f1([[3, 3, 3]] * 19, [[3, 2, 1]] * 19),
    ):
        with pytest.warns(InputWarning, match="a bootstrap needs 20 documents or more, got 19") as found:
            call()
        assert found[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        bootstrap_interval([0.1] * 20)


def test_one_document_shows_nothing():
    assert paired_bootstrap([0.4], [0.1]).p_value == 1
    assert paired_bootstrap([0.4], [0.1], weights=[3]).p_value == 1


def test_micro_averaged_f1_by_brute_force():
    generator = np.random.default_rng(5)
    gold = generator.integers(0, 30, size=40)
    systems = []
    for share in (0.7, 0.6):
        right = generator.binomial(gold, share)
        systems.append(np.stack([gold, right + generator.integers(0, 9, size=40), right], axis=1))
    found = paired_bootstrap_f1(*systems, samples=500)

    def f1(counts):
        gold, predicted, right = map(sum, zip(*counts, strict=True))
        return 200 * right / (gold + predicted)

    drawn = np.random.default_rng(12345).integers(40, size=(500, 40))
    differences = [f1(systems[0][row]) - f1(systems[1][row]) for row in drawn]
    assert found.difference == pytest.approx(f1(systems[0]) - f1(systems[1]))
    extreme = sum(abs(one - found.difference) >= abs(found.difference) for one in differences)
    assert found.p_value == (1 + extreme) / 501
    assert (found.low, found.high) == pytest.approx(tuple(np.percentile(differences, [2.5, 97.5])))
    assert paired_bootstrap_f1(systems[0], systems[0]).p_value == 1


def test_f1_of_documents_without_units():
    nothing = np.zeros((3, 3))
    assert paired_bootstrap_f1(nothing, nothing).difference == 0
    with pytest.raises(InputError, match=r"expected three counts for each of the same documents, got \(3, 3\) and \(2"):
        paired_bootstrap_f1(nothing, nothing[:2])
    with pytest.raises(InputError, match="expected counts of the same gold units, got different ones"):
        paired_bootstrap_f1(nothing, np.ones((3, 3)))


def test_scores_of_several_metrics_are_named():
    with pytest.raises(TypeError, match=r"got RougeScores; pass those of one metric, scores.metric\('rouge1'\)"):
        paired_bootstrap(rouge(["a b"], ["a c"]), rouge(["a b"], ["a b"]))


def test_draws_as_far_as_the_difference_count_whatever_their_rounding():
    # In tenths, so that the definition can be computed in whole numbers.
    tenths = np.array([-1, -2, -1, 3])
    drawn = np.random.default_rng(12345).integers(4, size=(1000, 4))
    far = np.abs(tenths[drawn].sum(axis=1) - tenths.sum()) >= abs(tenths.sum())
    assert paired_bootstrap(tenths / 10, np.zeros(4), samples=1000).p_value == (1 + far.sum()) / 1001
