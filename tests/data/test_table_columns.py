"""Columns of tables: which hold the text, which are told, and the ids of rows."""

import gzip
import json

import pyarrow
import pyarrow.parquet
import pytest

from discsum.data.failures import Failure
from discsum.data.input_source import InputSource
from discsum.data.inputs import read_inputs
from discsum.data.pairs import PairSource
from discsum.data.tasks import shards_of
from discsum.document import Document, Span
from discsum.errors import InputError, InputWarning
from discsum.tree import RSTTree


def test_names_of_rows(tmp_path):
    path = tmp_path / "news.jsonl"
    path.write_text(
        '{"text": "a", "id": 7}\n{"text": "b", "id": ""}\n{"text": "c", "id": null}\n{"text": "d", "id": "x"}\n'
        '{"text": "e", "id": NaN}\n{"text": "f", "id": 0}\n'
    )
    assert [item.id for item in read_inputs([str(path)])] == ["7", "news-2", "news-3", "x", "news-5", "0"]


def test_the_article_is_the_text_where_there_are_both(tmp_path):
    path = tmp_path / "news.csv"
    path.write_text("text,article\nshort,long\n")
    with pytest.warns(InputWarning, match=r"news.csv: got the columns article and text; article is read; name one "):
        assert [item.text for item in read_inputs([str(path)], encoding="utf-8")] == ["long"]
    parquet = tmp_path / "news.parquet"
    pyarrow.parquet.write_table(pyarrow.table({"text": ["short"], "article": ["long"], "summary": ["-"]}), parquet)
    inputs, pairs = InputSource([str(parquet)]), PairSource(str(parquet)).pairs()
    for documents, tables in ((inputs.items(), inputs.tables()), (pairs, pairs.tables())):
        # Also if workers read the rows.
        with pytest.warns(InputWarning, match=r"news.parquet: got the columns article and text; article is read"):
            list(shards_of(documents, 1, tables=tables))
    assert [item.text for item in read_inputs([str(path)], text_column="text")] == ["short"]


def test_a_parsed_document_is_its_text_whatever_is_beside_it(tmp_path):
    document = Document.from_spans("Rain fell.", [Span(0, 10)], [Span(0, 10)], RSTTree(1))
    path = tmp_path / "news.jsonl"
    path.write_text(json.dumps(document.to_json() | {"article": "Snow fell.", "summary": "It rained."}))
    (item,) = read_inputs([str(path)])
    (pair,) = PairSource(str(path)).pairs()
    assert item.text == item.document.text == pair.text == pair.document.text == "Rain fell."


def test_columns_are_checked_at_the_first_row_that_can_be_read(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text("body,summary\na,b,c\nRain.,It rained.\nSnow.,It snowed.\n")
    first, second = read_inputs([str(path)])
    assert (first.source, second.source) == (f"{path}:2", str(path))
    pairs = iter(PairSource(str(path)).pairs())
    assert isinstance(next(pairs), Failure)
    with pytest.raises(InputError, match=r"rows.csv:3: expected a column article or text"):
        next(pairs)


def test_endings_in_capitals_are_no_part_of_ids(tmp_path):
    (tmp_path / "NEWS.JSONL.GZ").write_bytes(gzip.compress(b'{"text": "Rain."}'))
    assert [item.id for item in read_inputs([str(tmp_path / "NEWS.JSONL.GZ")])] == ["NEWS-1"]


def test_errors_name_options_only_where_there_are_any(tmp_path):
    path = tmp_path / "a.csv"
    path.write_bytes(b"body\ncaf\xe9\n")
    (tmp_path / "b.txt").write_bytes(b"caf\xe9")
    *_, encoding = read_inputs([str(path), str(tmp_path / "b.txt")], encoding="utf-8")
    assert "name the file's encoding with --encoding" in str(encoding)
    *_, encoding = read_inputs([str(path), str(tmp_path / "b.txt")])
    assert "convert the file to UTF-8 first" in str(encoding)
    path.write_text("body\nrain\n")
    assert "got the columns body; name one with --text-column" in str(next(read_inputs([str(path)], encoding="utf-8")))
    assert "got the columns body; rename the one with the text" in str(next(read_inputs([str(path)])))


def test_a_column_that_is_there_twice_is_named(tmp_path):
    (tmp_path / "rows.csv").write_text("id,article,article\na,Rain.,Snow.\n")
    with pytest.warns(InputWarning, match="rows.csv: expected columns with different names, got article more than onc"):
        (item,) = read_inputs([str(tmp_path / "rows.csv")])
    assert item.text == "Snow."
