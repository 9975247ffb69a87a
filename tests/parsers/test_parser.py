import nltk
import pytest
import tiny
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from nltk.tokenize.punkt import PunktSentenceTokenizer

import discsum
from discsum.constants import UNITS
from discsum.document import Document, Span
from discsum.errors import InputError, MissingExtraError
from discsum.parsers.reading import STATES, SUBWORDS
from discsum.parsers.segmenter import _punkt, split_sentences
from discsum.parsers.structure import DESIGNS

# Texts mix these marks and words with any Unicode, including lone surrogates and control characters.
MARKS = [
    "\n\n",
    "\n",
    "\r\n",
    "\t",
    "\x00",
    "\x07",
    "\x1c",
    "\x85",
    "\u200b",
    "\u2028",
    "\ufeff",
    "\uf0b7",
    "\ud800",
    "\udfff",
]
WORDS = [
    "The old mill",
    "broke.",
    " because ",
    "한글",
    "𝒜",
    "e\u0301",
    "ﬃ",
    "İ",
    "💧🏽",
    "a" * 120,
    "...",
    '"',
    "'s",
    "مرحبا",
]
PIECES = st.sampled_from(WORDS) | st.sampled_from(MARKS)
TEXTS = st.lists(PIECES | st.text(st.characters(codec=None), max_size=12), max_size=10).map("".join)
PARSER = tiny.make_parser()


def same(one, other):
    """Assert that two parses are equal; their probabilities may differ by rounding."""
    assert (one.text, one.sentences, one.edus, one.id, one.parser) == (
        other.text,
        other.sentences,
        other.edus,
        other.id,
        other.parser,
    )
    if one.tree is None or other.tree is None:
        assert one.tree is other.tree
        return
    assert one.tree.spans.tolist() == other.tree.spans.tolist()
    for ours, theirs in zip(one.tree.nodes, other.tree.nodes, strict=True):
        assert (ours.nuclearity, ours.relation) == (theirs.nuclearity, theirs.relation)
        assert ours.probability == pytest.approx(theirs.probability, abs=1e-3)


def check(document, text):
    """Check what holds for every parse, except tiling spans and valid trees, which the classes themselves check."""
    assert document.text == text
    if text.strip():
        assert document.tree.edus == len(document.edus) >= 1
        assert len(document.sentences) >= 1
        assert (document.edus[0].start, document.edus[-1].end) == (len(text) - len(text.lstrip()), len(text.rstrip()))
    else:
        assert (document.sentences, document.edus, document.tree) == ((), (), None)


@settings(max_examples=150)
@given(TEXTS)
def test_every_text_is_parsed(text):
    check(PARSER.parse(text), text)


@settings(max_examples=60)
@given(TEXTS, st.sampled_from(["newline", "spans"]))
def test_every_text_is_parsed_in_given_sentences(text, source):
    sentences = split_sentences(text, "newline")
    document = PARSER.parse(text, sentences="newline" if source == "newline" else sentences)
    check(document, text)
    assert list(document.sentences) == sentences
    assert {sentence.start for sentence in sentences} <= {edu.start for edu in document.edus}


@settings(max_examples=60)
@given(TEXTS)
def test_given_edus_are_kept_exactly(text):
    edus = [Span(index, index + 1) for index, character in enumerate(text) if not character.isspace()]
    whole = [Span(edus[0].start, edus[-1].end)] if edus else []
    document = PARSER.parse(text, sentences=whole, edus=edus)
    assert [(edu.start, edu.end) for edu in document.edus] == [(edu.start, edu.end) for edu in edus]
    check(document, text)


@settings(max_examples=30)
@given(st.lists(TEXTS | st.just(tiny.ARTICLE), max_size=6), st.integers(1, 4))
def test_batches_change_nothing(texts, batch_size):
    ids = [f"text {number}" for number in range(len(texts))]
    alone = [PARSER.parse(text, id=id) for text, id in zip(texts, ids, strict=True)]
    many = list(PARSER.parse_many(texts, batch_size=batch_size, ids=ids))
    assert len(alone) == len(many)
    for one, other in zip(alone, many, strict=True):
        same(one, other)


@pytest.mark.parametrize("name", DESIGNS)
def test_every_design_parses(name):
    document = tiny.make_parser(name).parse(tiny.ARTICLE, id="mill")
    check(document, tiny.ARTICLE)
    assert (document.id, document.parser) == ("mill", f"tiny-{name}")
    assert len(document.edus) > len(document.sentences) > 3
    assert {(node.nuclearity, node.relation) for node in document.tree.nodes} <= set(tiny.LABELS)


def test_parsing_is_lazy():
    taken = []

    def texts():
        for number in range(10):
            taken.append(number)
            yield "The mill broke."

    documents = PARSER.parse_many(texts(), batch_size=3)
    next(documents)
    assert taken == [0, 1, 2]


def test_sentences_from_newlines():
    text = "  The mill broke\r\n\nbecause it was old.  \n\tNobody came\n"
    assert PARSER.parse(text, sentences="newline").sentence_texts == (
        "The mill broke",
        "because it was old.",
        "Nobody came",
    )


def test_sentences_from_nltk_or_the_command_that_installs_it(monkeypatch):
    _punkt.cache_clear()
    monkeypatch.setattr(nltk.data, "path", [])
    with pytest.raises(MissingExtraError, match=r"python -m nltk\.downloader punkt_tab"):
        PARSER.parse("The mill broke. It was old.", sentences="nltk")


def test_sentences_from_nltk():
    text = "Dr. Mill came at 3 p.m. today.  He left.\n"
    try:
        document = PARSER.parse(text, sentences="nltk")
    except MissingExtraError as error:
        pytest.skip(str(error))
    assert document.sentence_texts == ("Dr. Mill came at 3 p.m. today.", "He left.")


def test_what_cannot_be_is_refused():
    with pytest.raises(InputError, match="sentences from one of model, nltk, newline, got 'punkt'"):
        PARSER.parse("The mill broke.", sentences="punkt")
    with pytest.raises(
        InputError, match="EDU 1: expected every character to be in one, but characters 8 to 10 are in none"
    ):
        PARSER.parse("The mill broke.", sentences="newline", edus=[Span(0, 8), Span(10, 15)])
    with pytest.raises(InputError, match="edus: expected spans for each of 2 texts, got 1"):
        PARSER.encode(["Rain came.", "Rain came."], edus=[[Span(0, 10)]])
    with pytest.raises(InputError, match="sentences: expected spans with one text only, got 2 texts"):
        PARSER.encode(["Rain came.", "Rain came."], sentences=[Span(0, 10)])
    with pytest.raises(InputError, match="every EDU to start in a sentence"):
        PARSER.parse("The mill broke.", sentences=[Span(4, 15)], edus=[Span(0, 15)])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"sentences": None}, "sentences: expected model, nltk, newline or spans, got None"),
        ({"sentences": [(0, 4)]}, r"sentences: expected model, nltk, newline or spans, got \(0, 4\)"),
        ({"edus": [[(0, 4)]]}, r"edus: expected spans, or None for the parser's EDUs, got \(0, 4\)"),
        ({"edus": [Span(0, 4)]}, r"edus: expected spans, or None for the parser's EDUs, got Span\(start=0, end=4\)"),
        ({"edus": "rain"}, "edus: expected spans, or None for the parser's EDUs, got 'rain'"),
        ({"edus": ["rain"]}, "edus: expected spans, or None for the parser's EDUs, got 'rain'"),
    ],
)
def test_units_that_are_no_spans(options, message):
    with pytest.raises(TypeError, match=message):
        PARSER.encode(["rain"], **options)


def test_an_unknown_vector():
    with pytest.raises(InputError, match="keep: expected some of sentence, edu, states, subwords, got 'words'"):
        PARSER.encode(["rain"], keep=["edu", "words"])
    with pytest.raises(InputError, match="keep: expected some of sentence, edu, states, subwords, got 'words'"):
        PARSER.vectors([PARSER.parse("rain")], ["words"])


def test_encoding_gives_a_vector_a_subword():
    texts = ["The old mill broke.", "", "rain"]
    assert [one.text for one in PARSER.segment(iter(texts))] == texts
    encoded = PARSER.encode(iter(texts), keep=[SUBWORDS])
    assert [item.vectors[SUBWORDS].shape for item in encoded] == [(len(item.subwords), 32) for item in encoded]
    assert PARSER.encode([]) == []


def test_a_parsed_document_keeps_its_units_and_tree():
    parsed = PARSER.parse(tiny.ARTICLE, id="mill")
    keep = [SUBWORDS, STATES, *UNITS]
    (encoded,), (anew,) = PARSER.vectors([parsed], keep), PARSER.encode([tiny.ARTICLE], keep=keep)
    assert encoded.document is parsed
    assert encoded.vectors.keys() == anew.vectors.keys() == {*keep}
    for name in keep:
        torch.testing.assert_close(encoded.vectors[name], anew.vectors[name])
    bare = Document.from_spans(parsed.text, parsed.sentences, parsed.edus)
    grown = PARSER.encode([bare.text], sentences=bare.sentences, edus=[bare.edus])[0].document
    assert grown.edus == parsed.edus
    assert grown.tree.spans.tolist() == parsed.tree.spans.tolist()


def test_a_sentence_of_ten_thousand_words():
    text = " ".join(tiny.WORDS[index % 60] for index in range(10_000))
    document = PARSER.parse(text)
    check(document, text)


def test_the_package_parses_with_a_parser_of_ones_own(parser_folder):
    assert discsum.Parser.from_pretrained(parser_folder).parse("The mill broke.").text == "The mill broke."


def test_sentences_begin_where_nltk_says(monkeypatch):
    # Untrained, it needs no data.
    monkeypatch.setattr("discsum.parsers.segmenter._punkt", PunktSentenceTokenizer)
    document = PARSER.parse("The mill broke.  It was old.\n", sentences="nltk")
    assert document.sentence_texts == ("The mill broke.", "It was old.")
