import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from small_trees import document_of, random_tree

from discsum.candidates import Candidates
from discsum.dependency import edu_heads
from discsum.document import Document
from discsum.errors import InputError
from discsum.ranking import ngrams
from discsum.selection import Budget, Policy, default_policy, select, word_counts
from discsum.tree import RSTTree

FOX = [
    ["The fox crossed the frozen lake at dawn."],
    ["Nobody saw it."],
    ["The hens, however, heard the fox crossed the frozen field."],
    ["Morning came late."],
]


@pytest.mark.parametrize(
    ("fields", "problems"),
    [
        ({}, ["exactly one of units, words and ratio, got none"]),
        ({"units": 3, "ratio": 0.5}, ["got units 3 and ratio 0.5; choose one"]),
        ({"units": 0}, ["units: expected a whole number of at least 1, got 0"]),
        ({"words": 2.5}, ["words: expected a whole number of at least 1, got 2.5"]),
        ({"ratio": 0.0}, ["ratio: expected a number above 0 and at most 1, got 0.0"]),
        ({"ratio": float("nan")}, ["ratio: expected a number above 0"]),
        (
            {"units": -1, "words": 0, "ratio": 30},
            ["exactly one", "units: expected", "words: expected", "ratio: expected"],
        ),
    ],
)
def test_budget_names_every_problem(fields, problems):
    with pytest.raises(InputError) as error:
        Budget(**fields)
    for problem in problems:
        assert problem in str(error.value)


def test_policy_names_every_problem():
    with pytest.raises(
        InputError, match=r"unit: expected sentence or edu, got 'word'; dependencies: expected unit edu"
    ):
        Policy(Budget(units=1), unit="word", dependencies=True)


def test_costs():
    document = document_of(FOX)
    assert word_counts(document, "sentence").tolist() == [8, 3, 10, 3]
    candidates = Candidates.of(document, "sentence")
    assert Budget(units=2).costs(document, "sentence", candidates)[1] == 2
    assert Budget(words=9).costs(document, "sentence", candidates)[1] == 9
    assert Budget(ratio=0.5).costs(document, "sentence", candidates)[1] == 12
    ten = document_of([["a b c d e f g h i j"] for _ in range(3)])
    assert Budget(ratio=0.1).costs(ten, "edu", Candidates.of(ten, "edu"))[1] == 3


@pytest.mark.parametrize(
    ("budget", "scores", "expected"),
    [
        (Budget(units=2), [0.1, 0.9, 0.2, 0.8], [1, 3]),
        (Budget(units=9), [0.1, 0.9, 0.2, 0.8], [0, 1, 2, 3]),
        (Budget(units=2), [0.5, 0.5, 0.5, 0.5], [0, 1]),
        # Eight words fit, ten do not and are skipped, three still fit.
        (Budget(words=12), [0.9, 0.2, 0.8, 0.1], [0, 1]),
        (Budget(words=2), [0.1, 0.2, 0.9, 0.3], [2]),
        (Budget(ratio=0.01), [0.1, 0.2, 0.9, 0.3], [2]),
        (Budget(ratio=1.0), [0.1, 0.2, 0.9, 0.3], [0, 1, 2, 3]),
        (Budget(units=2), [-np.inf, -3, -1, -2], [2, 3]),
    ],
)
def test_greedy(budget, scores, expected):
    assert select(document_of(FOX), scores, Policy(budget)) == expected


def test_trigram_blocking():
    document = document_of(FOX)
    scores = [0.9, 0.1, 0.8, 0.7]
    assert select(document, scores, Policy(Budget(units=2))) == [0, 2]
    assert select(document, scores, Policy(Budget(units=2), block_trigrams=True)) == [0, 3]
    # A unit is not blocked by trigrams that it repeats itself.
    echo = document_of([["row row row row row row"], ["row row row row"]])
    assert select(echo, [1, 0], Policy(Budget(units=2), block_trigrams=True)) == [0]


def test_empty_and_one_unit_documents():
    policy = Policy(Budget(words=1), unit="edu", dependencies=True)
    assert select(Document(""), [], policy) == []
    assert select(document_of([["Five words are in here."]], RSTTree(1)), [0.0], policy) == [0]


def test_what_does_not_fit_is_named():
    with pytest.raises(InputError, match="a number for each of 4 units"):
        select(document_of(FOX), [1, 2], Policy(Budget(units=1)))
    with pytest.raises(InputError, match="a number for each of 4 units"):
        select(document_of(FOX), [1, 2, float("nan"), 0], Policy(Budget(units=1)))
    with pytest.raises(InputError, match=r"^dependencies: expected .* discourse tree"):
        select(document_of(FOX), [1, 2, 3, 0], Policy(Budget(units=1), unit="edu", dependencies=True))
    with pytest.raises(InputError, match="with its sentence spans"):
        select(Document("Not divided yet."), [], Policy(Budget(units=1)))


def test_dependencies_by_hand():
    # EDU 0 <- 1 <- 2 in one sentence, 3 in the next depends on 0.
    tree = RSTTree(
        4,
        [
            {"first": 0, "last": 3, "split": 2, "nuclearity": "NS", "relation": "elaboration-additional"},
            {"first": 0, "last": 2, "split": 0, "nuclearity": "NS", "relation": "elaboration-additional"},
            {"first": 1, "last": 2, "split": 1, "nuclearity": "NS", "relation": "elaboration-additional"},
        ],
    )
    document = document_of([["It rained", "which was rare", "in that valley."], ["People sang."]], tree)
    scores = [0.1, 0.2, 0.9, 0.8]
    for units, expected in ((1, [3]), (2, [0, 3]), (3, [0, 1, 2]), (4, [0, 1, 2, 3])):
        assert select(document, scores, Policy(Budget(units=units), "edu", dependencies=True)) == expected
    # The best unit's chain does not fit into one word, but is selected as a whole nevertheless.
    assert select(document, scores, Policy(Budget(words=1), "edu", dependencies=True)) == [0, 1, 2]


@settings(deadline=None)
@given(st.integers(1, 25), st.integers(0, 10**6), st.integers(1, 12), st.booleans())
def test_dependencies_close_the_selection(edus, seed, units, block):
    generator = np.random.default_rng(seed)
    names = [" ".join(generator.choice(["red", "blue", "tin", "oak"], 4)) for _ in range(edus)]
    cuts = sorted(set(generator.integers(1, edus, size=edus // 3).tolist())) if edus > 1 else []
    bounds = itertools.pairwise([0, *cuts, edus])
    document = document_of([names[start:end] for start, end in bounds], random_tree(edus, seed))
    heads, sentence = edu_heads(document.tree), document.edu_to_sentence
    policy = Policy(Budget(units=units), "edu", block_trigrams=block, dependencies=True)
    selected = select(document, generator.random(edus), policy)
    assert 1 <= len(selected) <= units
    assert selected == sorted(set(selected))
    if not block:
        # The root EDU of a sentence can be selected alone, so the budget is used up.
        assert len(selected) == min(units, edus)
    for edu in selected:
        assert sentence[heads[edu]] != sentence[edu] or heads[edu] in selected


def test_lengths_may_be_numbers_of_numpy_but_not_zero():
    assert Budget(units=np.int64(3)).units == 3
    with pytest.raises(InputError, match="units: expected a whole number of at least 1, got 0"):
        default_policy("sentence", 0)


def test_repeated_words_in_scripts_without_spaces():
    # Bigrams of single characters.
    assert ngrams("橋を渡る", 2) == {("橋", "を"), ("を", "渡"), ("渡", "る")}
    assert ngrams("The 2 mills", 2) == {("the", "2"), ("2", "mills")}


def test_a_ratio_whose_product_falls_just_short_is_not_rounded_down():
    assert 0.29 * 100 < 29
    assert Budget(ratio=0.29).most_words(document_of([["word " * 99 + "end."]])) == 29
