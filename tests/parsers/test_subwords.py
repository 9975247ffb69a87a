from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
import tiny
import torch
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import Tokenizer, models, pre_tokenizers

from discsum.document import Span
from discsum.parsers import budgets
from discsum.parsers import subwords as module
from discsum.parsers.segmenter import (
    MOST_MARKS,
    Borders,
    BoundaryTagger,
    boundary_probabilities,
    joined_marks,
    spans_from,
    starts_from,
)
from discsum.parsers.subwords import CASES, GAPS, OTHER, first_subwords, split_subwords, split_texts
from discsum.writing import BLANK_LINE, LINE_BREAK, is_inside_word


def described(text, tokenizer):
    words = split_subwords(text, tokenizer)
    rows = zip(words.starts, words.ends, words.gaps, words.cases, words.opens, strict=True)
    return [(text[start:end], GAPS[gap], CASES[case], bool(opens)) for start, end, gap, case, opens in rows]


def test_layout_and_case(tokenizer):
    assert described(" Millers don't SELL\n3rd\tflour.\n \nNow", tokenizer) == [
        ("Miller", "blank line", "capitalized", True),
        ("s", "none", "lower", False),
        ("d", "space", "lower", True),
        ("o", "none", "lower", False),
        ("n", "none", "lower", False),
        ("'", "none", "other", True),
        ("t", "none", "lower", True),
        ("S", "space", "capitalized", True),
        ("E", "none", "capitalized", False),
        ("L", "none", "capitalized", False),
        ("L", "none", "capitalized", False),
        ("3", "newline", "digit", True),
        ("r", "none", "lower", False),
        ("d", "none", "lower", False),
        ("flour", "space", "lower", True),
        (".", "none", "other", True),
        ("N", "blank line", "capitalized", True),
        ("o", "none", "lower", False),
        ("w", "none", "lower", False),
    ]


@pytest.mark.parametrize(
    ("between", "gap"),
    [
        ("", "none"),
        ("\x00", "none"),
        (" ", "space"),
        ("\t ", "space"),
        ("\u00a0", "space"),
        ("\n", "newline"),
        (" \r\n ", "newline"),
        ("\u2028", "newline"),
        ("\n\n", "blank line"),
        ("\n \t\n", "blank line"),
        ("\r\n\r\n", "blank line"),
        ("\r\r", "blank line"),
        ("\f", "blank line"),
        ("\u2029", "blank line"),
    ],
)
def test_gaps(between, gap, tokenizer):
    assert described(f"!{between}!", tokenizer)[1] == ("!", gap, "other", True)


@pytest.mark.parametrize("between", ["\v", "\f", "\x1c", "\x1f", "\x85", "\u2028"])
def test_all_white_space_ends_a_word(between, tokenizer):
    words = split_subwords(f"mill{between}wheel", tokenizer)
    assert [*zip(words.starts.tolist(), words.ends.tolist(), strict=True)] == [(0, 4), (5, 10)]
    assert words.opens.tolist() == [True, True]


def test_case_of_a_whole_word(tokenizer):
    assert [row[2] for row in described("MILL Mill mill A", tokenizer)] == [
        "upper",
        "capitalized",
        "lower",
        "capitalized",
    ]


def test_surrogates_and_control_characters_keep_offsets(tokenizer):
    text = "\x00mill\ud800 \x07wheel\u200b river"
    words = split_subwords(text, tokenizer)
    pieces = [text[start:end] for start, end in zip(words.starts, words.ends, strict=True)]
    assert pieces == ["mill", "wheel", "river"]
    assert words.starts.tolist() == [1, 8, 15]


@pytest.mark.parametrize(("text", "count"), [("", 0), (" \n\t", 0), ("\x00", 1), (" \x00 \u200b\n", 1)])
def test_a_text_has_subwords_if_anything_but_white_space_is_in_it(text, count, tokenizer):
    words = split_subwords(text, tokenizer)
    assert len(words) == count
    if count:
        assert text[words.starts[0] : words.ends[0]] == text.strip()


def make_byte_tokenizer():
    # One subword includes the space before it.
    pieces = [*pre_tokenizers.ByteLevel.alphabet(), "Ġa"]
    tokenizer = Tokenizer(models.BPE({piece: index for index, piece in enumerate(pieces)}, [("Ġ", "a")]))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    return tokenizer


def test_bytes_as_subwords_share_offsets():
    tokenizer = make_byte_tokenizer()
    text = "a \U0001f600 b"
    words = split_subwords(text, tokenizer)
    assert words.starts.tolist() == [0, 2, 2, 2, 2, 4]
    # Subwords that are only a space are left out, and the first subword of every unit is still found.
    assert first_subwords(words, [Span(0, 1), Span(2, 3), Span(4, 5)]).tolist() == [0, 1, 5]


def test_first_subwords(tokenizer):
    words = split_subwords("mill \x00 wheel river", tokenizer)
    spans = [Span(0, 2), Span(2, 4), Span(5, 6), Span(7, 12), Span(13, 18)]
    assert first_subwords(words, spans).tolist() == [0, 0, 1, 1, 2]


ANY_TEXT = st.text(st.characters(codec=None), max_size=40)
# Characters and strings with which subwords, gaps and cases differ.
PARTS = st.sampled_from(
    [*"aB \n\r\f\t\x00\x85\u2029\u00a01雨停कि\u200c\ud800é.ßΣ²ⅧⓐǅЖ\U0001f600", "\n \n", "MILL", "mills", " and "]
)
MIXED_TEXT = st.lists(PARTS | st.characters(codec=None), max_size=60).map("".join)


def gap_between(text, before, start):
    if not before:
        return "blank line"
    between = text[before:start]
    if not any(character.isspace() for character in between):
        return "none"
    return "blank line" if BLANK_LINE.search(between) else "newline" if LINE_BREAK.search(between) else "space"


def case_of(word):
    if word[0].isdigit() or not word[0].isalpha():
        return "digit" if word[0].isdigit() else "other"
    if not word[0].isupper():
        return "lower"
    return "upper" if len(word) > 1 and word.isupper() else "capitalized"


@given(st.lists(MIXED_TEXT, min_size=1, max_size=4), st.sampled_from([5, 30, 100_000]))
@pytest.mark.parametrize("of_bytes", [False, True])
def test_subwords_are_described_as_character_by_character(of_bytes, texts, piece):
    tokenizer = make_byte_tokenizer() if of_bytes else tiny.make_tokenizer()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "PIECE", piece)
        for text, words in zip(texts, split_texts(texts, tokenizer), strict=True):
            assert words.ids.tolist() == split_subwords(text, tokenizer).ids.tolist()
            before = 0
            for start, end, gap, case, opens in zip(
                words.starts.tolist(), words.ends.tolist(), words.gaps, words.cases, words.opens, strict=True
            ):
                assert start < end and not text[start].isspace()
                assert (GAPS[gap], CASES[case]) == (gap_between(text, before, start), case_of(text[start:end]))
                assert opens == (start >= before and not is_inside_word(text, start))
                before = max(before, end)


@given(ANY_TEXT, st.lists(st.integers(0, 40), max_size=6))
def test_spans_tile_the_text(text, starts):
    spans = spans_from(text, sorted(start for start in set(starts) if start < len(text) and not text[start].isspace()))
    covered = [index for span in spans for index in range(span.start, span.end)]
    assert covered == sorted(set(covered))
    assert not "".join(character for index, character in enumerate(text) if index not in set(covered)).strip()
    for span in spans:
        assert text[span.start : span.end].strip() == text[span.start : span.end]


def test_starts(tokenizer):
    words = split_subwords("mills and wheels", tokenizer)
    assert words.opens.tolist() == [True, False, True, True, False]
    chances = np.array([0.1, 0.9, 0.9, 0.2, 0.9], dtype=np.float32)
    assert starts_from(chances, words, 0.5).tolist() == [0, 2]
    assert starts_from(chances, words, 0.5, Borders(np.array([3]), np.array([2]))).tolist() == [0, 3]
    assert starts_from(chances[:0], split_subwords("", tokenizer), 0.5).tolist() == []


@given(st.data())
def test_no_edu_is_punctuation_alone_within_a_sentence(data):
    text = "".join(
        data.draw(st.lists(st.sampled_from(["a ", "b1 ", "- ", ". ", '" ', "-" * 10]), min_size=1, max_size=20))
    )
    words = split_subwords(text, tiny.make_tokenizer())
    count = len(words)
    begins = st.lists(st.integers(1, count - 1), unique=True).map(sorted) if count > 1 else st.just([])
    sentences = np.array([0, *data.draw(begins)])
    edus = np.array(data.draw(begins), dtype=np.int64)
    chances = np.array(data.draw(st.lists(st.floats(0, 1), min_size=count, max_size=count)), dtype=np.float32)
    found = joined_marks(edus, sentences, chances, words)
    assert set(sentences.tolist()) <= set(found.tolist()) <= {*sentences.tolist(), *edus.tolist()}
    bounds, signs = [*found.tolist(), count], words.cases == OTHER
    before = dict(pairwise([*np.union1d(edus, sentences).tolist(), count]))
    for begin, end in pairwise(bounds):
        line = signs[max(0, begin - MOST_MARKS) : end + MOST_MARKS]
        if signs[begin:end].all() and not (begin in sentences and (end in sentences or end == count)):
            assert line.sum() > MOST_MARKS
    # Nothing else is joined.
    for begin in set(before) - set(found.tolist()):
        other = max(one for one in before if one < begin)
        assert signs[begin : before[begin]].all() or signs[other:begin].all()


def test_a_dash_joins_the_side_of_its_less_probable_border(tokenizer):
    words = split_subwords("mills -- and wheels .", tokenizer)
    dash, following, end = 2, 4, len(words) - 1
    assert (words.cases == OTHER).tolist() == [False] * 2 + [True] * 2 + [False] * 3 + [True]
    for before, after, kept in ((0.6, 0.7, following), (0.7, 0.6, dash), (0.7, 0.7, dash)):
        chances = np.zeros(len(words), dtype=np.float32)
        chances[[dash, following, end]] = before, after, 0.9
        starts = np.array([dash, following, end])
        assert joined_marks(starts, np.array([0]), chances, words).tolist() == [0, kept]
        # Sentences keep their beginnings.
        assert joined_marks(starts, np.array([0, dash]), chances, words).tolist() == [0, dash]
        assert joined_marks(starts, np.array([0, following]), chances, words).tolist() == [0, following]
        assert joined_marks(starts, np.array([0, dash, following]), chances, words).tolist() == [0, dash, following]


def test_an_edu_starts_with_at_least_the_probability_of_a_sentence():
    edus, sentences = boundary_probabilities(torch.tensor([[0.0, 0.0, 0.0], [0.0, 1.0, 2.0]])).tolist()
    assert edus == pytest.approx([2 / 3, 1 - 1 / (1 + np.e + np.e**2)])
    assert sentences == pytest.approx([1 / 3, np.e**2 / (1 + np.e + np.e**2)])


@torch.inference_mode()
@pytest.mark.parametrize("piece", [1, 5, 16])
def test_tags_do_not_depend_on_the_pieces_they_are_computed_in(monkeypatch, piece):
    torch.manual_seed(0)
    tagger = BoundaryTagger(8, hidden=12, dropout=0.0).eval()
    document = [torch.randn(17, 8)], [torch.randint(0, 4, (17,))], [torch.randint(0, 5, (17,))]
    whole = tagger(*document)[0]
    monkeypatch.setattr(budgets, "ON_CPU", replace(budgets.ON_CPU, tokens=piece))
    torch.testing.assert_close(tagger(*document)[0], whole, atol=1e-5, rtol=0)


def test_tags_do_not_depend_on_the_other_documents():
    torch.manual_seed(0)
    tagger = BoundaryTagger(8, hidden=12, dropout=0.0).eval()
    lengths = (3, 1, 17, 0, 6)
    vectors = [torch.randn(length, 8) for length in lengths]
    gaps = [torch.randint(0, 4, (length,)) for length in lengths]
    cases = [torch.randint(0, 5, (length,)) for length in lengths]
    together = tagger(vectors, gaps, cases)
    for index, length in enumerate(lengths):
        assert together[index].shape == (length, 3)
        if length:
            alone = tagger([vectors[index]], [gaps[index]], [cases[index]])[0]
            torch.testing.assert_close(together[index], alone, atol=1e-5, rtol=0)
