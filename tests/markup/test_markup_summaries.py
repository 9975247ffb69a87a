"""Pages and Markdown documents in the shipped parser: the layout of their sentences, and the selected sentences."""

from pathlib import Path

import pytest

import discsum
from discsum.errors import InputError
from discsum.layout import BODY, CODE, HEADING, LIST
from discsum.persistence import shipped

FERRY = {
    input: Path(__file__).with_name(f"ferry.{ending}").read_text(encoding="utf-8")
    for ending, input in (("html", "html"), ("md", "markdown"))
}
AROUND = ("Home", "Sport", "cookies", "Accept", "Related", "Bridge", "Copyright", "visit more", "tracker", "color")

pytestmark = pytest.mark.skipif("discsum-gum" not in shipped(), reason="the shipped parser is not installed")


@pytest.fixture(scope="module", params=FERRY)
def document(request):
    return discsum.parse(FERRY[request.param], input=request.param)


def kinds_of(document, words):
    """Return the kinds of the sentences that overlap with `words`."""
    start = document.text.index(words)
    spans = zip(document.layout, document.sentences, strict=True)
    return {kind for kind, span in spans if span.start < start + len(words) and span.end > start}


def test_the_document_has_the_extracted_text(document):
    assert document.text.startswith("# Ferry to Holm gets a second boat\n\nThe county council bought")
    assert not any(word in document.text for word in AROUND)


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        (HEADING, "Ferry to Holm gets a second boat"),
        (BODY, "The county council bought"),
        (BODY, "Adults pay twelve crowns"),
        (BODY, "Children travel free"),
        (LIST, "under twelve, at weekends"),
        (BODY, "We have waited"),
        (CODE, "Departs"),
        (CODE, "notify(crew)"),
    ],
)
def test_the_kind_of_every_sentence(document, kind, words):
    assert kinds_of(document, words) == {kind}


def test_headings_and_items_open_sentences(document):
    starts = {span.start for span in document.sentences}
    for marked in ("# Ferry", "## ", "- Adults", "- Children", "- Bicycles", "| Departs", "```\n"):
        assert document.text.index(marked) in starts


@pytest.mark.parametrize("model", [None, "lead", "textrank"])
@pytest.mark.parametrize("input", FERRY)
def test_a_summary_has_nothing_of_what_is_around_the_article(model, input):
    summary = discsum.summarize(FERRY[input], input=input, model=model, units=40)
    assert len(summary.selected) >= 5
    assert not any(word in summary.text for word in (*AROUND, "#", "|", "notify"))


def test_texts_and_documents_together(document):
    texts = ["# It\n\nIt *rained* on all three days of the fair.", document]
    first, second = discsum.summarize_many(texts, input="markdown", model="lead", units=1)
    assert first.text == "It rained on all three days of the fair."
    assert second.document.text == document.text
    parsed = discsum.parse_many(texts[:1], input="markdown")
    assert [found.text for found in parsed] == ["# It\n\nIt rained on all three days of the fair.\n"]


@pytest.mark.parametrize("input", ["nonsense", "htm", [], None])
def test_what_it_may_not_be_written_in_is_told_first(document, input):
    for function in (discsum.parse, discsum.summarize):
        for text in ("It rained.", document):
            with pytest.raises(InputError, match="input: expected one of text, markdown, html, got"):
                function(text, input=input)
    for function in (discsum.parse_many, discsum.summarize_many):
        with pytest.raises(InputError, match="input: expected one of"):
            function([], input=input)


@pytest.mark.parametrize("function", [discsum.parse_many, discsum.summarize_many])
def test_one_text_is_not_several(function):
    with pytest.raises(TypeError, match="texts: expected several texts, got one str"):
        function("It rained.")


def test_what_it_is_written_in_is_text_by_default():
    text = "The council *will* rebuild the market on higher ground."
    assert discsum.parse(text).text == discsum.parse(text, input="text").text == text
