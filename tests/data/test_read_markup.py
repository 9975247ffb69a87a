"""HTML and Markdown in files, standard input and tables."""

import io
import json
import sys

import pytest
import tiny

from discsum.data.failures import Failure
from discsum.data.inputs import Item, read_inputs

TEXT = "The café by the quay is open, although it rains.\n"
PAGE = f"<html><head>{{}}</head><body><article><p>{TEXT}</p></article></body></html>"


def texts(*inputs, **options):
    return [
        entry.text if isinstance(entry, Item) else entry.reason for entry in read_inputs([*map(str, inputs)], **options)
    ]


def test_the_ending_says_what_a_file_is_written_in(tmp_path):
    for name in ("a.md", "b.MARKDOWN", "c.txt", "d.rst"):
        (tmp_path / name).write_text("*It* rained.\n")
    for name in ("e.html", "f.HTM"):
        (tmp_path / name).write_text(PAGE.format(""), encoding="utf-8")
    files = sorted(tmp_path.iterdir())
    assert texts(*files) == ["It rained.\n", "It rained.\n", "*It* rained.\n", "*It* rained.\n", TEXT, TEXT]
    # In a folder, files with other endings are left out.
    assert [item.id for item in read_inputs([str(tmp_path)])] == ["a", "b", "c", "e", "f"]


def test_what_is_named_goes_before_the_ending(tmp_path):
    page, text = tmp_path / "a.html", tmp_path / "b.txt"
    page.write_text(PAGE.format(""), encoding="utf-8")
    text.write_text(PAGE.format(""), encoding="utf-8")
    assert texts(page, text, input="text") == [PAGE.format("")] * 2
    assert texts(page, text, input="html") == [TEXT, TEXT]


def test_standard_input_is_text_unless_it_is_named(monkeypatch):
    for named, text in (("auto", "# *It* rained"), ("text", "# *It* rained"), ("markdown", "# It rained\n")):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"# *It* rained")))
        assert texts("-", input=named) == [text]


@pytest.mark.parametrize("encoding", ["iso-8859-1", "windows-1252", "utf-8", "utf-16"])
def test_the_encoding_that_a_page_declares(tmp_path, encoding):
    path = tmp_path / "a.html"
    path.write_bytes(PAGE.format(f'<meta charset="{encoding}">').encode(encoding))
    assert texts(path) == [TEXT]


def test_an_encoding_that_is_named_goes_before_the_declared_one(tmp_path):
    path = tmp_path / "a.html"
    content = PAGE.format("<meta charset=utf-8>").encode("latin-1")
    path.write_bytes(content)
    (reason,) = texts(path, encoding="declared")
    place = content.index(b"\xe9")
    assert (
        reason == f"{path}: expected utf-8, got byte 0xe9 at offset {place}; name the file's encoding with --encoding"
    )
    assert texts(path, encoding="latin-1") == [TEXT]
    path.write_bytes(PAGE.format("").encode("latin-1"))
    assert "expected utf-8, got byte 0xe9" in texts(path)[0]


def test_rows_are_written_in_what_is_named(tmp_path):
    path = tmp_path / "a.jsonl"
    rows = [{"text": "# *It*\n\nIt rained."}, {"text": "> " * 200 + "x"}, {"text": "[It](x) rained."}]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert texts(path)[0] == rows[0]["text"]
    first, second, third = read_inputs([str(path)], input="markdown")
    assert (first.text, third.text) == ("# It\n\nIt rained.\n", "It rained.\n")
    assert isinstance(second, Failure)
    assert second.source == f"{path}:2"


def test_parsed_documents_in_rows_are_kept(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_text(json.dumps(tiny.make_parser().parse("*It* rained.").to_json()) + "\n")
    assert texts(path, input="markdown") == ["*It* rained."]


def test_a_page_without_text_does_not_stop_the_rest(tmp_path):
    (tmp_path / "a.html").write_text("<html><nav>Home</nav></html>")
    (tmp_path / "b.md").write_text("It rained.")
    first, second = read_inputs([str(tmp_path)])
    assert (first.source, second.text) == (str(tmp_path / "a.html"), "It rained.\n")
    assert first.reason.startswith("expected HTML with an article")
