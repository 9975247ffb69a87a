"""Statistics of texts with summaries."""

import pytest
import tiny
from hypothesis import given
from hypothesis import strategies as st
from small_trees import document_of
from transformers import PreTrainedTokenizerFast

from discsum.abstractive.analysis.corpus import corpus_statistics, fragment_lengths
from discsum.data.pairs import Pair
from discsum.errors import InputError
from discsum.tree import Node, RSTTree

WORDS = st.lists(st.sampled_from("abc"), max_size=12)


def pair_of(sentences, reference, tree):
    document = document_of(sentences, tree)
    return Pair("pair", document.text, (reference,)), document


def slow_fragments(text, summary):
    """Return the lengths by trying every place of the text for every word of the summary."""
    found, index = [], 0
    while index < len(summary):
        best = 0
        for start in range(len(text)):
            length = 0
            while [*text, None][start + length : start + length + 1] == summary[index + length : index + length + 1]:
                length += 1
            best = max(best, length)
        found += [best] if best else []
        index += max(best, 1)
    return found


@given(WORDS, WORDS)
def test_fragments_equal_a_plain_search(text, summary):
    assert fragment_lengths(text, summary) == slow_fragments(text, summary)


def test_figures_of_a_small_corpus():
    tree = RSTTree(3, [Node(0, 2, 0, "NN", "same-unit"), Node(1, 2, 1, "SN", "attribution-positive")])
    interrupted = pair_of([["The old mill,", "they said,", "broke."]], "the old mill broke", tree)
    other = pair_of([["Rain fell."], ["It snowed."]], "hail fell", RSTTree(2, [Node(0, 1, 0, "NN", "joint-list")]))
    first, second = (corpus_statistics([one]) for one in (interrupted, other))
    # The fragments are "the old mill" and "broke".
    assert (first.coverage, first.density, first.compression) == (1.0, (9 + 1) / 4, 6 / 4)
    # Both parts of the clause are selected, and count as one.
    assert (first.edus, first.oracle_edus, first.oracle_sentences) == (3, 1, 1)
    assert (second.coverage, second.density, second.oracle_edus) == (0.5, 0.5, 1)
    both = corpus_statistics([interrupted, other])
    assert (both.documents, both.sentences, both.edus, both.summary_words) == (2, 1.5, 2.5, 3)
    assert (both.compression, both.tokens, both.ratio) == ((6 / 4 + 4 / 2) / 2, None, None)


def test_the_mean_of_ratios_is_not_the_ratio_of_means():
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=tiny.make_tokenizer(), unk_token="[UNK]")
    rows = (([["the old mill broke"]], "rain"), ([["rain"]], "the mill broke"))
    pairs = [pair_of(sentences, reference, RSTTree(1)) for sentences, reference in rows]
    texts, summaries = (
        [len(tokenizer(text)["input_ids"]) for text in group]
        for group in (("the old mill broke", "rain"), ("rain", "the mill broke"))
    )
    found = corpus_statistics(pairs, tokenizer)
    assert found.tokens == pytest.approx(sum(texts) / 2)
    assert found.summary_tokens == pytest.approx(sum(summaries) / 2)
    assert found.ratio == pytest.approx((texts[0] / summaries[0] + texts[1] / summaries[1]) / 2)
    assert found.ratio != pytest.approx(found.tokens / found.summary_tokens)


def test_nothing_to_count():
    with pytest.raises(InputError, match="expected texts with reference summaries, got none"):
        corpus_statistics([])
    with pytest.raises(InputError, match="pair: expected a reference with at least one word, got ' '"):
        corpus_statistics([pair_of([["Rain."]], " ", RSTTree(1))])
