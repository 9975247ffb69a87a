import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rouge_score.rouge_scorer import RougeScorer

from discsum.errors import InputError
from discsum.oracles import ORACLES, bertsum, discobert_edu, kedzie, oracle_labels, rouge12_f
from discsum.oracles.kedzie import WORDS, content_words

UNITS = [
    "The council closed the old bridge on Monday.",
    "Cars queued for miles.",
    "Engineers had found cracks in the bridge.",
    "A baker sold more bread than ever.",
]
REFERENCE = "The old bridge was closed.\nEngineers found cracks."

words = st.sampled_from(["bridge", "bridges", "closed", "closing", "the", "old", "crack", "cracks", "!"])
texts = st.lists(words, min_size=0, max_size=7).map(" ".join)
SCORER = RougeScorer(["rouge1", "rouge2"], use_stemmer=True)


def rouge_sum(summary, references):
    scores = [SCORER.score(reference, summary) for reference in references]
    return sum(max(score[metric].fmeasure for score in scores) for metric in ("rouge1", "rouge2"))


def greedy(units, score_of, k):
    """Return the greedy selection, every candidate scored from nothing."""
    selected, best = [], 0.0
    while k is None or len(selected) < k:
        options = [
            (round(score_of(sorted([*selected, index])), 10), -index)
            for index in range(len(units))
            if index not in selected
        ]
        if not options or max(options)[0] <= round(best, 10):
            break
        best = max(options)[0]
        selected.append(-max(options)[1])
    return sorted(selected)


@settings(max_examples=150, deadline=None)
@given(st.lists(texts, max_size=7), st.lists(texts, min_size=1, max_size=2), st.sampled_from([None, 1, 3]))
def test_rouge12_f_equals_the_naive_search(units, references, k):
    expected = greedy(units, lambda chosen: rouge_sum("\n".join(units[i] for i in chosen), references), k)
    assert rouge12_f(units, references, k) == expected


def set_f(candidate, reference):
    overlap = len(candidate & reference)
    if not overlap:
        return 0.0
    precision, recall = overlap / len(candidate), overlap / len(reference)
    return 2 * precision * recall / (precision + recall)


def grams(text, n):
    tokens = "".join(c for c in text.lower() if c.isascii() and (c.isalnum() or c == " ")).split()
    return {tuple(tokens[i : i + n]) for i in range(len(tokens) - n + 1)}


def naive_bertsum(units, reference, k):
    def score_of(chosen):
        return sum(set_f(set().union(*(grams(units[i], n) for i in chosen)), grams(reference, n)) for n in (1, 2))

    return greedy(units, score_of, k)


@settings(max_examples=150, deadline=None)
@given(st.lists(texts, max_size=7), texts, st.sampled_from([None, 1, 3]))
def test_bertsum_equals_the_naive_search(units, reference, k):
    assert bertsum(units, [reference], k) == naive_bertsum(units, reference, k)


@settings(max_examples=150, deadline=None)
@given(st.data(), st.lists(texts, min_size=1, max_size=7), texts, st.sampled_from([None, 1, 3]))
def test_discobert_takes_a_unit_with_its_head(data, units, reference, k):
    heads = np.array(
        [data.draw(st.sampled_from([-1, *range(index), *range(index + 1, len(units))])) for index in range(len(units))]
    )
    together = [index if head < 0 else (index, head) for index, head in enumerate(heads.tolist())]

    def members(choices):
        return {unit for choice in choices for unit in np.atleast_1d(together[choice]).tolist()}

    def score_of(choices):
        return sum(
            set_f(set().union(*(grams(units[i], n) for i in members(choices))), grams(reference, n)) for n in (1, 2)
        )

    assert discobert_edu(units, [reference], k, heads) == sorted(members(greedy(units, score_of, k)))


class ContentWords:
    def tokenize(self, text):
        return content_words(text)


@settings(max_examples=150, deadline=None)
@given(
    st.lists(texts | st.just("bridge " * 60), max_size=7),
    st.lists(texts, min_size=1, max_size=2),
    st.sampled_from([None, 1, 3]),
)
def test_kedzie_equals_the_naive_search(units, references, k):
    scorer = RougeScorer(["rouge1"], tokenizer=ContentWords())

    def score_of(chosen):
        summary = " ".join(units[i] for i in chosen)
        if len(summary.split()) > WORDS:
            return -1.0
        return max(scorer.score(reference, summary)["rouge1"].recall for reference in references)

    assert kedzie(units, references, k) == greedy(units, score_of, k)


def test_content_words_are_stemmed_and_no_stop_words():
    assert content_words("The bridges were closing, and she had cracks!") == ["bridg", "close", "crack"]


@pytest.mark.parametrize("name", ORACLES)
def test_labels(name):
    heads = np.full(4, -1)
    labels = oracle_labels(name, UNITS, REFERENCE, heads=heads)
    assert labels.dtype == np.int8
    assert labels.tolist() == [1, 0, 1, 0]
    assert oracle_labels(name, UNITS, [REFERENCE], k=1, heads=heads).sum() == 1
    assert oracle_labels(name, [], REFERENCE, heads=heads[:0]).tolist() == []
    assert oracle_labels(name, ["Nothing shared", "!"], REFERENCE, heads=heads[:2]).tolist() == [0, 0]


def test_stemming_is_what_tells_them_apart():
    units, reference = ["closing bridges", "tea"], "closed bridge"
    assert oracle_labels("rouge12-f", units, reference).tolist() == [1, 0]
    assert oracle_labels("bertsum", units, reference).tolist() == [0, 0]


def test_several_references_take_the_best():
    assert oracle_labels("rouge12-f", ["red tin", "blue oak"], ["blue oak", "grey ash"]).tolist() == [0, 1]


def test_what_cannot_be_done_is_named():
    with pytest.raises(InputError, match="kedzie, bertsum, discobert-edu, rouge12-f, got 'best'"):
        oracle_labels("best", UNITS, REFERENCE)
    with pytest.raises(InputError, match="a reference summary"):
        oracle_labels("bertsum", UNITS, [" "])
    with pytest.raises(InputError, match="use unit edu"):
        oracle_labels("discobert-edu", UNITS, REFERENCE)
