import json
import re
from dataclasses import replace

import numpy as np
import pytest
from small_trees import document_of

from discsum.document import Document, Span
from discsum.errors import InputError
from discsum.summary import Queried, Summary
from discsum.tidying import completed, tidied
from discsum.tree import Node, RSTTree

TEXT = 'When the bell rang,\nthe cook left: "Enough,"\nshe said - and slept. Soup boiled\nover.'
EDUS = ["When the bell rang,", "the cook left:", '"Enough,"', "she said -", "and slept.", "Soup boiled\nover."]


@pytest.fixture
def document():
    spans, start = [], 0
    for edu in EDUS:
        start = TEXT.index(edu, start)
        spans.append(Span(start, start + len(edu)))
    second = TEXT.index("Soup")
    return Document.from_spans(TEXT, [Span(0, second - 1), Span(second, len(TEXT))], spans, id="kitchen")


@pytest.mark.parametrize(
    ("indices", "plain", "tidy"),
    [
        ([0, 1], "When the bell rang, the cook left:", "When the bell rang, the cook left."),
        ([1, 3], "the cook left: she said -", "The cook left. She said."),
        ([2], '"Enough,"', '"Enough."'),
        ([2, 3], '"Enough," she said -', '"Enough," she said.'),
        ([4, 5], "and slept. Soup boiled over.", "And slept. Soup boiled over."),
        ([], "", ""),
    ],
)
def test_edu_text(document, indices, plain, tidy):
    scores = [0.0] * 6
    assert Summary.from_indices(document, "edu", "test", scores, indices).text == plain
    assert Summary.from_indices(document, "edu", "test", scores, indices, tidy=True).text == tidy


@pytest.mark.parametrize(
    ("edu", "tidy"),
    [
        ("it stayed (as ever)", "It stayed (as ever)."),
        ("was it?", "Was it?"),
        ("(see the map.)", "(See the map.)"),
        ("--", "--."),
        ("42 came;", "42 came."),
        ("it is run by Berg Inc.,", "It is run by Berg Inc."),
        ("why?,", "Why?"),
        ("wait...,", "Wait..."),
        ("it  rained", "It rained."),
        ("and then…", "And then…"),
        ("他走了。", "他走了。"),
        ("「他走了。」", "「他走了。」"),
        ("क्या वह गया।", "क्या वह गया।"),
        ("{so it is.}", "{So it is.}"),
        ("他走了，", "他走了。"),
        ("彼は行った 3", "彼は行った 3。"),
        ("เขาไปแล้ว", "เขาไปแล้ว"),
        ("वह गया", "वह गया।"),
        ("он ушёл,", "Он ушёл."),
        ("iPhone sales fell", "iPhone sales fell."),
        ("pH rose,", "pH rose."),
        ("#ramen is good", "#ramen is good."),
        ("@anna left", "@anna left."),
        ("anna@mill.org wrote", "anna@mill.org wrote."),
        ("x = 3 holds", "x = 3 holds."),
        ("a mill stopped", "A mill stopped."),
        ("see https://mill.org/a#top", "See https://mill.org/a#top"),
        ("www.mill.org is down", "www.mill.org is down."),
        ('"', '"'),
        ("”", "”"),
        ("text “", "Text “."),
        ('(Times)"We left," he said', '(Times)"We left," he said.'),
        ('she said:"well"', 'She said:"well."'),
        ("an interval [0, 1) is open", "An interval [0, 1) is open."),
        ('a nail of 5" and a board', 'A nail of 5" and a board.'),
        ("b) the mill closed :(", "b) The mill closed :(."),
        ("„Ja“, sagte sie", "„Ja“, sagte sie."),
    ],
)
def test_tidy(edu, tidy):
    document = document_of([[edu]])
    assert Summary.from_indices(document, "edu", "test", [1], [0], tidy=True).text == tidy


def test_tidy_closes_a_headline_that_is_taken_with_what_follows():
    document = document_of([["Mill closes"], ["the miller left", "when the river froze"], ["snow fell."]])
    for indices, plain, tidy in (
        ([0, 1, 3], "Mill closes the miller left snow fell.", "Mill closes. The miller left. Snow fell."),
        (
            [0, 1, 2, 3],
            "Mill closes the miller left when the river froze snow fell.",
            "Mill closes. The miller left when the river froze. Snow fell.",
        ),
    ):
        assert Summary.from_indices(document, "edu", "test", [0] * 4, indices).text == plain
        assert Summary.from_indices(document, "edu", "test", [0] * 4, indices, tidy=True).text == tidy


@pytest.mark.parametrize(
    ("sentences", "selected", "tidy"),
    [
        ([['"The mill is old,', "as I said,", 'and it is cold,"', "he wrote."]], [0], '"The mill is old."'),
        ([['"The mill is old,', "as I said,", 'and it is cold,"', "he wrote."]], [2], '"And it is cold."'),
        ([['"The mill is old,', "as I said,", 'and it is cold,"', "he wrote."]], [1], "As I said."),
        ([['"In 2015" it was "old,', 'as ever" it seems.']], [0], '"In 2015" it was "old."'),
        (
            [["The mill (which [as ever] is old,", "although new)", "closed."]],
            [0],
            "The mill (which [as ever] is old).",
        ),
        ([["A board of 6'2\"", 'and "old nails"', "were used."]], [0], "A board of 6'2.\""),
        # No selection cuts what is selected whole, in one or in several sentences.
        ([['"It is old," he said,', '"and cold."']], [0], '"It is old," he said.'),
        ([["“It closed.", "We left."], ["We will return,”", "he said."]], [0, 1], "“It closed. We left.”"),
        ([["“It closed."], ["We left."], ["We will return,”", "he said."]], [1, 2], "“We left. We will return.”"),
        (
            [["“It closed."], ["We left."], ["We will return,”", "he said."]],
            [0, 1, 2],
            "“It closed. We left. We will return.”",
        ),
        ([["(It closed."], ["We left.)"], ["It rained."]], [0, 1], "(It closed. We left.)"),
        # The mark before is missing, or the quotation is in another language.
        ([['It was old," he said,', '"and cold."']], [1], '"And cold."'),
        ([["Alt war sie“, sagte er,", "„und kalt“."]], [0], "Alt war sie“, sagte er."),
    ],
)
def test_tidy_completes_quotations_that_the_selection_cuts(sentences, selected, tidy):
    document = document_of(sentences)
    scores = [0] * len(document.edus)
    assert Summary.from_indices(document, "edu", "test", scores, selected, tidy=True).text == tidy


@pytest.mark.parametrize(
    ("clause", "relation", "tidy"),
    [
        ("that the mill closed.", "attribution-positive", "The mill closed."),
        ("that the mill closed.", "Attribution", "The mill closed."),
        ("that is old.", "attribution-positive", "That is old."),
        ("that isn't true.", "attribution-positive", "That isn't true."),
        ("that man is old.", "attribution-positive", "That man is old."),
        ("that Anna left.", "attribution-positive", "Anna left."),
        ("that nobody came.", "attribution-positive", "Nobody came."),
        ("that in May prices rose.", "attribution-positive", "In May prices rose."),
        ("that only 35% came.", "attribution-positive", "Only 35% came."),
        ("that 35% came.", "attribution-positive", "35% came."),
        ("that new rules apply.", "attribution-positive", "New rules apply."),
        ("that children drowned.", "attribution-positive", "Children drowned."),
        ("that according to Ina it rained.", "attribution-positive", "According to Ina it rained."),
        ("that means rain.", "attribution-positive", "That means rain."),
        ("that new rule applies.", "attribution-positive", "That new rule applies."),
        ("that bus was late.", "attribution-positive", "That bus was late."),
        ("that if it rains, we leave.", "attribution-positive", "If it rains, we leave."),
        ("that 2010 law is old.", "attribution-positive", "That 2010 law is old."),
        ("that the mill closed.", "elaboration-attribute", "That the mill closed."),
    ],
)
def test_tidy_leaves_out_that_without_its_attribution(clause, relation, tidy):
    document = document_of([["He said", clause]], RSTTree.from_unordered(2, [Node(0, 1, 0, "SN", relation)]))
    for indices, text in (([1], tidy), ([0, 1], f"He said {clause}")):
        assert Summary.from_indices(document, "edu", "test", [0, 0], indices, tidy=True).text == text


def test_thousands_of_quotes_take_no_time():
    quotes = '"' * 200_000
    assert tidied(f"so he said {quotes}x") == f"So he said {quotes}x."
    assert tidied(f"so he said{quotes}") == f"So he said.{quotes}"
    run = "(a " * 20_000 + '" ' * 50_000
    assert completed(run, "a", "b") == run


def test_sentences_are_joined_by_a_space_and_lines_hold_one_each(document):
    summary = Summary.from_indices(document, "sentence", "test", [0.25, 0.5], [1, 0])
    assert summary.lines == (
        'When the bell rang, the cook left: "Enough," she said - and slept.',
        "Soup boiled over.",
    )
    assert summary.text == " ".join(summary.lines)


def test_edus_of_a_sentence_are_on_one_line():
    document = document_of(
        [["Mill closes,"], ["the miller left", "when the\nriver froze,", "they say."], ["Snow fell."]]
    )
    summary = Summary.from_indices(document, "edu", "test", [0] * 5, [0, 1, 3, 4])
    assert summary.lines == ("Mill closes,", "the miller left they say.", "Snow fell.")


@pytest.mark.parametrize("unit", ["sentence", "edu"])
def test_the_label_of_a_turn_is_on_the_line_of_its_first_sentence(unit):
    text = "ANNA: So the wall broke. It rained all night.\nTOM: We should go.\nANNA: Go?\nTOM:"
    spans = [Span(*found.span()) for found in re.finditer(r"[A-Z]+:|[A-Z][a-z][^.?]*[.?]", text)]
    document = Document.from_spans(text, spans, spans)
    summary = Summary.from_indices(document, unit, "test", [0] * 8, [0, 2, 3, 4, 5, 7])
    assert summary.lines == ("ANNA: It rained all night.", "TOM: We should go.", "ANNA:", "TOM:")


def test_json(document):
    summary = Summary.from_indices(document, "sentence", "lead", [0.25, 0.5], [1])
    assert json.loads(json.dumps(summary.to_json())) == {
        "id": "kitchen",
        "summary": "Soup boiled over.",
        "lines": ["Soup boiled over."],
        "unit": "sentence",
        "model": "lead",
        "selected": [
            {"index": 1, "start": 67, "end": 84, "score": 0.5, "text": "Soup boiled\nover."},
        ],
        "scores": [0.25, 0.5],
    }
    for unit in summary.selected:
        assert TEXT[unit.start : unit.end] == unit.text


def test_indices_of_numpy(document):
    count = len(document.sentences)
    summary = Summary.from_indices(document, "sentence", "m", np.zeros(count), np.array([0]))
    assert json.loads(json.dumps(summary.to_json()))["selected"][0]["index"] == 0
    with pytest.raises(TypeError, match="float"):
        Summary.from_indices(document, "sentence", "m", np.zeros(count), [0.5])
    with pytest.raises(TypeError, match=r"got truth values; pass np\.flatnonzero of them"):
        Summary.from_indices(document, "sentence", "m", np.zeros(count), [True] * count)


def test_infinite_scores_are_null_in_json(document):
    summary = Summary.from_indices(document, "sentence", "m", [-np.inf, 0.5], [0, 1])
    data = json.loads(json.dumps(summary.to_json(), allow_nan=False))
    assert data["scores"] == [None, 0.5] == [unit["score"] for unit in data["selected"]]


@pytest.mark.parametrize(("unit", "tidy"), [("sentence", False), ("edu", False), ("edu", True)])
def test_summaries_come_back_from_json(document, unit, tidy):
    document = replace(document, warnings=("it may be German",))
    scores = np.arange(len(document.units(unit))) / 7
    summary = Summary.from_indices(document, unit, "test", scores, [0, 1], tidy=tidy)
    queried = Queried("bells", tuple(scores.tolist()), tuple((scores / 2).tolist()))
    for one in (summary, replace(summary, queried=queried, doubts=("no word of the query is in it",))):
        assert Summary.from_json(json.loads(json.dumps(one.to_json())), document) == one


def test_infinite_scores_come_back_as_nan(document):
    data = Summary.from_indices(document, "sentence", "m", [-np.inf, 0.5], [0, 1]).to_json()
    found = Summary.from_json(data, document)
    assert np.isnan(found.scores[0]) and found.to_json() == data


def test_json_that_is_no_summary_of_the_document(document):
    data = Summary.from_indices(document, "sentence", "lead", [0.25, 0.5], [1]).to_json()
    other = document_of([["It rained."], ["Snow fell."]], id="weather")
    with pytest.raises(
        InputError, match=r"^selected: expected units of weather, got \['Soup .*document 'kitchen' that"
    ):
        Summary.from_json(data, other)
    longer = document_of([["It rained."], ["Snow fell."], ["It thawed."]], id="weather")
    with pytest.raises(
        InputError, match=r"^weather: expected a score for each of 3 units, got 2; pass the document 'kitchen' that"
    ):
        Summary.from_json(data, longer)
    for fields in ({"selected": [{}]}, {"selected": None}, {"scores": ["high", "low"]}, {"query": "soup"}):
        with pytest.raises(InputError, match=r"^expected an object of discsum extract --json, got other fields: "):
            Summary.from_json(data | fields, document)
    with pytest.raises(
        InputError, match=r"^expected an object of discsum extract --json, got one without unit, model,"
    ):
        Summary.from_json({"id": "kitchen", "summary": "Soup."}, document)
    with pytest.raises(TypeError, match=r"^data: expected Mapping, got str; read it with json\.loads"):
        Summary.from_json(json.dumps(data), document)
    with pytest.raises(TypeError, match=r"^document: expected Document, got str"):
        Summary.from_json(data, TEXT)


def test_what_does_not_fit_is_named(document):
    with pytest.raises(InputError, match="a score for each of 2 units, got 3"):
        Summary.from_indices(document, "sentence", "lead", [1, 2, 3], [0])
    with pytest.raises(InputError, match="units in 0 to 1, got 0 to 7"):
        Summary.from_indices(document, "sentence", "lead", [1, 2], [0, 7])


def test_the_label_of_a_speaker_stays_with_its_turn():
    document = document_of([["Anna:", "so the wall broke."], ["Tom:", "we should go,", "he said"]])
    summary = Summary.from_indices(document, "edu", "test", [0] * 5, [0, 1, 2, 3], tidy=True)
    assert summary.text == "Anna: so the wall broke. Tom: we should go."


def test_tidy_changes_neither_labels_nor_the_letters_of_items():
    document = document_of([["[00:00:03]"], ["ANNA:"], ["so the wall broke"], ["(c) not sublet the house;"]])
    summary = Summary.from_indices(document, "edu", "test", [0] * 4, [0, 1, 2, 3], tidy=True)
    assert summary.text == "[00:00:03] ANNA: so the wall broke. (c) Not sublet the house."
    assert Summary.from_indices(document, "edu", "test", [0] * 4, [0], tidy=True).text == "[00:00:03]"


def test_long_runs_of_spaces_take_no_time():
    document = document_of([["It rained." + " " * 50_000 + "Again."]])
    (line,) = Summary.from_indices(document, "sentence", "test", [0], [0]).lines
    assert line.endswith("Again.")
