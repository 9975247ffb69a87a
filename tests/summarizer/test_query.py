import json
import warnings
from dataclasses import fields, replace
from pathlib import Path
from unicodedata import normalize

import numpy as np
import pytest
import tiny
from hypothesis import given
from hypothesis import strategies as st

import discsum
from discsum.baselines import BASELINES
from discsum.errors import InputError, InputWarning
from discsum.formats.html import page
from discsum.parsers.parsing import with_vectors
from discsum.parsers.reading import SUBWORDS
from discsum.scoring import ParsedDocument
from discsum.summarizer.options import SummaryArguments, SummaryOptions
from discsum.summarizer.query import SHARE, Query, combined

NEWS = (
    "The council of Brenning met on Monday evening. It will open a second library near the station next year. "
    "Members argued for two hours about parking. Otters have come back to the river below the old mill. "
    "The mayor thanked everybody who came. The next meeting is in March."
)


def parsed(text, parser):
    return with_vectors(parser.encode([text], keep=[SUBWORDS])[0], parser)


@pytest.mark.parametrize("unit", ["sentence", "edu"])
def test_vectors_match_as_by_loops(parser, unit):
    item, text = parsed(tiny.ARTICLE, parser), "the old mill and the river"
    query = Query(text, parser)
    encoded = item.vectors[parser.fingerprint]
    vectors = encoded.vectors[SUBWORDS]
    asked = parser.vectors([discsum.Document(text)], [SUBWORDS])[0]
    kept = [
        vector / vector.norm()
        for vector, start in zip(asked.vectors[SUBWORDS], asked.subwords.starts, strict=True)
        if text[start:].split()[0] not in ("the", "and")
    ]
    bounds, expected = [], []
    for span in item.document.units(unit):
        inside = [i for i, start in enumerate(encoded.subwords.starts) if span.start <= start < span.end]
        bounds.append((inside[0], inside[-1] + 1))
        best = [max(float(one @ vectors[i] / vectors[i].norm()) for i in inside) for one in kept]
        expected.append(np.clip(np.mean(best), 0, 1))
    np.testing.assert_allclose(query._vector_similarities(vectors, np.array(bounds)), expected, atol=1e-5)


@pytest.mark.parametrize("model", [None, *BASELINES])
@pytest.mark.parametrize(
    ("query", "wanted"),
    [("otters", "Otters"), ("Where is the new library?", "library"), ("a dispute over car parks: parking", "parking")],
)
def test_the_sentence_that_is_asked_for(model, query, wanted):
    summary = discsum.summarize(NEWS, model=model, units=2, query=query)
    assert wanted in summary.text
    # The sentence also has the highest score.
    best = int(np.argmax(summary.scores))
    assert wanted in summary.document.sentence_texts[best]


def test_scores_of_both(summarizer_folders):
    folder = str(summarizer_folders["edu"])
    plain = discsum.summarize(tiny.ARTICLE, model=folder)
    asked = discsum.summarize(tiny.ARTICLE, model=folder, query="bread")
    data = asked.to_json()
    assert data["query"] == "bread"
    assert {type(value) for name in ("model_scores", "query_scores") for value in data[name]} == {float}
    np.testing.assert_allclose(data["model_scores"], plain.scores, atol=1e-6)
    expected = combined(np.array(data["model_scores"]), np.array(data["query_scores"]))
    np.testing.assert_allclose(data["scores"], expected)
    assert not {"query", "model_scores", "query_scores"} & plain.to_json().keys()
    json.dumps(data, allow_nan=False)


@pytest.mark.filterwarnings("ignore:.*expected a word of the query")
def test_neighbours_and_given_trees_change_nothing(parser):
    alone = discsum.summarize(NEWS, model="lead", query="otters")
    several = list(discsum.summarize_many([tiny.ARTICLE, NEWS, alone.document], model="lead", query="otters"))
    for summary in several[1:]:
        np.testing.assert_allclose(summary.scores, alone.scores, atol=1e-5)
        assert summary.text == alone.text


def test_layout_stays_out():
    text = "# Otters\n\n" + NEWS.replace("Otters", "Animals") + "\n\n- otters\n"
    assert discsum.summarize(text, units=1, query="otters").text not in ("# Otters", "- otters")


@pytest.mark.parametrize("text", ["", "Rain", "?!", "a b", "中文。"])
@pytest.mark.filterwarnings("ignore::discsum.errors.InputWarning")
def test_short_texts(text):
    summary = discsum.summarize(text, query="otters")
    assert all(0 <= score <= 1 for score in summary.scores)


@pytest.mark.parametrize("query", ["", " ", "?!"])
def test_queries_without_words(query):
    with pytest.raises(InputError, match="query: expected words"):
        discsum.summarize(NEWS, query=query)


@given(st.text(), st.text(alphabet=st.characters(categories=("L", "N", "P", "Zs")), min_size=1))
@pytest.mark.filterwarnings("ignore::discsum.errors.InputWarning")
def test_any_text_and_query(parser, text, query):
    item = parsed(text, parser)
    found = Query(query, parser).similarities(ParsedDocument(item.document), "edu")
    assert found.shape == (len(item.document.edus),)
    assert np.isfinite(found).all()
    assert ((found >= 0) & (found <= 1 + 1e-9)).all()


def test_combined():
    np.testing.assert_allclose(
        combined(np.array([5.0, 1.0, 3.0]), np.array([0.2, 0.2, 0.4])), [1 - SHARE, 0, 0.5 * (1 - SHARE) + SHARE]
    )
    assert combined(np.array([2.0, 2.0]), np.array([1.0, 1.0])).tolist() == [0, 0]
    assert combined(np.zeros(0), np.zeros(0)).size == 0


def test_a_query_about_something_else_is_told():
    with pytest.warns(InputWarning, match="expected a word of the query 'qwzxvb' in the text, found none"):
        summary = discsum.summarize(NEWS, query="qwzxvb")
    assert len(summary.to_json()["warnings"]) == 1
    assert "expected a word of the query" in page(summary.document, summary)
    # The warning belongs to this query, not to the document.
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        again = discsum.summarize(summary.document, query="otters")
    assert "warnings" not in again.to_json()


def test_words_are_the_same_in_any_unicode_form():
    composed = "The caf\u00e9 opened because it rained. Otters came back to the river."
    found = [
        discsum.summarize(normalize(form, composed), query=normalize(other, "the caf\u00e9"), units=1)
        for form in ("NFC", "NFD")
        for other in ("NFC", "NFD")
    ]
    for one in found:
        assert one.queried.query_scores == pytest.approx(found[0].queried.query_scores, abs=1e-5)
    assert found[0].queried.query_scores[0] > 0.5


@pytest.mark.parametrize(
    ("query", "text", "doubted"),
    [
        ("cat", "They concatenate strings.", True),
        ("cat", "Cats sleep.", False),
        ("the Otter", "OTTERS, they say, swim.", False),
        ("图书馆", "新图书馆明年开放。", False),
        ("otter?", " ", False),
        ("caf\u00e9", "The cafe\u0301 opened.", False),
        ("cafe\u0301", "The caf\u00e9 opened.", False),
    ],
)
def test_what_is_a_word_of_the_query(parser, query, text, doubted):
    assert bool(Query(query, parser).doubt(text)) == doubted


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ("WHO report", "WHO report"),
        ("IT jobs in May", "IT jobs May"),
        ("Who may report it?", "report"),
        ("What is it?", "What is it"),
        ("I saw otters", "saw otters"),
    ],
)
def test_function_words_do_not_count(parser, query, words):
    assert Query(query, parser)._words == words


def test_trees_in_another_language_are_told_where_a_model_reads_them(parser):
    text = "Der Rat will den Markt auf höherem Boden wieder aufbauen, obwohl das mehr kostet als eine Mauer."
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        document = discsum.parse(text)
    bare = replace(document, warnings=())
    with pytest.warns(InputWarning, match="'de'"):
        assert discsum.summarize(bare).document.warnings == document.warnings
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        discsum.summarize(bare, model="lead")


def test_models_and_parsers_by_path(summarizer_folders, parser_folder):
    for name, folder, others in (
        ("model", summarizer_folders["edu"], {}),
        ("parser", parser_folder, {"model": "lead"}),
    ):
        found = [discsum.summarize(tiny.ARTICLE, **others, **{name: kind(folder)}) for kind in (Path, str)]
        assert found[0].to_json() == found[1].to_json()


def test_the_types_of_options_are_those_that_are_checked():
    assert {*SummaryArguments.__annotations__} == {field.name for field in fields(SummaryOptions)}


@pytest.mark.parametrize(
    "options", [{"query": 5}, {"tidy": "no"}, {"block_trigrams": 1}, {"parser": 3}, {"model": b"x"}]
)
def test_options_of_the_wrong_type(options):
    with pytest.raises(TypeError, match=f"{next(iter(options))}: expected"):
        discsum.summarize(NEWS, **options)
