"""Pairs of texts and summaries from the rows of tables."""

import csv
import json
import warnings

import pytest

from discsum.data.pairs import PairSource
from discsum.document import Document, Span
from discsum.errors import InputError, InputWarning
from discsum.tree import RSTTree


def test_ids_may_be_numbers_and_blank_references_are_left_out(tmp_path):
    document = Document.from_spans("Rain fell.", [Span(0, 10)], [Span(0, 10)], RSTTree(1)).to_json()
    row = document | {"id": 7, "references": ["", "It rained.", " "]}
    (tmp_path / "news.jsonl").write_text(json.dumps(row))
    (pair,) = PairSource(str(tmp_path / "news.jsonl")).pairs()
    assert (pair.id, pair.references, pair.document.id) == ("7", ("It rained.",), "7")


def test_several_columns_of_summaries_are_told_except_beside_references(tmp_path):
    path = tmp_path / "news.csv"
    path.write_text("text,summary,highlights\nRain fell.,It rained.,Rain.\n")
    with pytest.warns(InputWarning, match=r"news.csv: got the columns highlights and summary; highlights is read; use"):
        assert [pair.references for pair in PairSource(str(path)).pairs()] == [("Rain.",)]
    path.write_text("text,summary,references\nRain fell.,It rained.,Rain.\n")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert [pair.references for pair in PairSource(str(path)).pairs()] == [("Rain.",)]


def test_every_table_with_a_header_is_checked_once(tmp_path):
    (tmp_path / "a.csv").write_text("text,summary\nRain fell.,It rained.\n")
    (tmp_path / "b.csv").write_text("text,abstract\nRain fell.,It rained.\n" * 2)
    pairs = iter(PairSource(str(tmp_path / "*.csv")).pairs())
    assert next(pairs).source == f"{tmp_path / 'a.csv'}:2"
    with pytest.raises(InputError, match=r"b\.csv:2: expected a column references or highlights or summary"):
        next(pairs)


@pytest.mark.parametrize(
    "cell", ["['It rained.', 'We left.']", "['It rained.'\n 'We left.']", "[]", "nan", "[None, 'A.']"]
)
def test_lists_written_as_text_are_refused(tmp_path, cell):
    with (tmp_path / "news.csv").open("w", newline="") as file:
        csv.writer(file).writerows(
            [["text", "summary"], ["Rain fell.", cell], ["Rain.", "[sic] It rained."], ["R.", "[A]"]]
        )
    failure, *pairs = PairSource(str(tmp_path / "news.csv")).pairs()
    told = (
        "which stands for a missing value" if cell == "nan" else "which looks like a list written as text; CSV has no"
    )
    assert told in failure.reason
    assert [pair.references for pair in pairs] == [("[sic] It rained.",), ("[A]",)]


@pytest.mark.parametrize(
    ("column", "options", "found"),
    [
        ("references", {}, ("It rained.", "We\nleft.")),
        ("abstract", {"summary_column": "abstract"}, ("It rained.", "We\nleft.")),
        ("summary", {}, ("It rained.\nWe left.",)),
        ("highlights", {"summary_column": "highlights"}, ("It rained.\nWe left.",)),
    ],
)
def test_a_list_has_several_references_or_the_sentences_of_one(tmp_path, column, options, found):
    path = tmp_path / "news.jsonl"
    path.write_text(json.dumps({"text": "Rain fell.", column: ["It rained.", "", "We\nleft."]}))
    (pair,) = PairSource(str(path), **options).pairs()
    assert pair.references == found
    path.write_text(json.dumps({"text": "Rain fell.", column: "It rained.\nWe left."}))
    (pair,) = PairSource(str(path), **options).pairs()
    assert pair.references == ("It rained.\nWe left.",)


SENTENCES = [["It rained.", "We left."], ["It rained."], ["The mill stopped.", "Rain fell.", "We left early."]]


def told(tmp_path, lists, column="abstract", times=1, **options):
    """Return the warnings about lists of sentences in rows with these lists, `times` over."""
    path = tmp_path / "news.jsonl"
    rows = [json.dumps({"text": "Rain fell.", column: value}) for value in lists * times]
    path.write_text("\n".join(rows))
    pairs = PairSource(str(path), **{"summary_column": column, **options}).pairs()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        assert len([*pairs]) == len(rows)
    return [str(one.message) for one in caught]


@pytest.mark.parametrize("times", [1, 60])
def test_lists_that_look_like_sentences_are_told_once(tmp_path, times):
    (message,) = told(tmp_path, SENTENCES, times=times)
    assert message == (
        f"{tmp_path / 'news.jsonl'}: lists in the column abstract are read as several summaries of a text, of which "
        "the best one counts, but look like the sentences of one; if so, rename the column to highlights, or join each "
        "list with line breaks"
    )


@pytest.mark.parametrize(
    "lists",
    [
        [["It rained. We left.", "Rain fell. We left."], ["It rained. Then we left."]],
        [["It rained.\nWe left."], ["Rain fell.\nWe left.", "It rained.\nWe went."]],
        [["It rained.", "We left."], ["Rain fell.", "We went."]],
        ["It rained.", "We left."],
        [["word " * 90], ["word " * 90, "mill " * 90]],
        [["The mill stopped in heavy rain.", "Heavy rain stopped it."], ["Rain stopped the mill."]],
        [["It rained."], [], ["We left."]],
    ],
    ids=["several sentences", "several lines", "equal lengths", "texts", "long", "alternatives", "one item"],
)
def test_lists_of_summaries_are_not_told(tmp_path, lists):
    assert told(tmp_path, lists) == []


@pytest.mark.parametrize("column", ["references", "highlights", "summary"])
def test_lists_in_columns_of_known_kinds_are_not_told(tmp_path, column):
    assert told(tmp_path, SENTENCES, column=column) == []
    assert told(tmp_path, SENTENCES, column=column, summary_column=None) == []


def test_lists_in_tables_that_workers_read_are_told(tmp_path):
    told(tmp_path, [*SENTENCES, None], times=60)
    with pytest.warns(InputWarning, match="lists in the column abstract are read as several summaries") as caught:
        assert PairSource(str(tmp_path / "news.jsonl"), summary_column="abstract").pairs().tables() is not None
    assert len(caught) == 1
