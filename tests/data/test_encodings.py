"""Inputs in encodings other than UTF-8, and errors about encodings."""

import pytest

from discsum.data.encodings import decode
from discsum.data.input_source import InputSource
from discsum.data.inputs import read_inputs
from discsum.errors import InputError


@pytest.mark.parametrize("encoding", ["utf-8", "latin-1", "utf-16", "cp1252"])
def test_encodings(encoding):
    assert decode("caf\u00e9".encode(encoding), encoding, "it") == "caf\u00e9"


@pytest.mark.parametrize(
    ("content", "encoding", "message"),
    [
        (b"ab\xff", "utf-8", "it: expected utf-8, got byte 0xff at offset 2"),
        ("caf\u00e9".encode(), "ascii", "it: expected ascii, got byte 0xc3 at offset 3"),
        (b"a", "klingon", "expected the name of a text encoding, got 'klingon'"),
        (b"a", "undefined", "expected the name of a text encoding, got 'undefined'"),
        (b"xn--.", "idna", "it: expected idna, got bytes that cannot be decoded"),
        (b"a", "base64", "expected the name of a text encoding, got 'base64'"),
    ],
)
def test_bytes_that_are_no_text(content, encoding, message):
    with pytest.raises(InputError, match=message):
        decode(content, encoding, "it")


def test_a_line_of_another_encoding_is_named_and_the_rest_is_read(tmp_path):
    path = tmp_path / "news.jsonl"
    path.write_bytes(b'{"text": "a"}\n{"text": "caf\xe9"}\n{"text": "b"}\n')
    first, bad, last = read_inputs([str(path)])
    assert (first.text, last.text) == ("a", "b")
    assert bad.source == f"{path}:2"
    assert bad.reason.startswith("expected utf-8, got byte 0xe9 at offset 27")


def test_a_csv_file_of_another_encoding_is_named(tmp_path):
    path = tmp_path / "news.csv"
    path.write_bytes(b"id,text\n1,a\n2,caf\xe9\n")
    assert "expected utf-8, got byte 0xe9 at offset 17" in list(read_inputs([str(path)]))[-1].reason
    assert [item.text for item in read_inputs([str(path)], encoding="latin-1")] == ["a", "caf\xe9"]


@pytest.mark.parametrize("name", ["utf-16", "UTF_16", "utf 16", "U16", "utf-32"])
@pytest.mark.parametrize("file", ["a.txt", "a.jsonl", "a.csv"])
def test_encodings_of_either_order_need_a_mark(tmp_path, name, file):
    (tmp_path / file).write_bytes(b'{"text": "odd"}\n')
    (failure,) = read_inputs([str(tmp_path / file)], encoding=name)
    assert f"expected {name} with a byte order mark, got none" in failure.reason
    assert f"or use utf-{'32' if '32' in name else '16'}-le or " in failure.reason


def test_a_csv_file_in_the_other_byte_order_needs_a_mark(tmp_path):
    # In the machine's order these bytes are letters of other scripts, so decoding raises no error.
    (tmp_path / "a.csv").write_bytes("text\nodd\n".encode("utf-16-be"))
    (failure,) = read_inputs([str(tmp_path / "a.csv")], encoding="utf-16")
    assert "expected utf-16 with a byte order mark, got none" in failure.reason


@pytest.mark.parametrize("encoding", ["utf-16", "utf-8-sig", "utf-32-le"])
def test_encodings_with_line_ends_of_several_bytes(tmp_path, encoding):
    (tmp_path / "news.jsonl").write_bytes('{"text": "caf\xe9"}\n{"text": "b"}\n'.encode(encoding))
    (tmp_path / "news.csv").write_bytes("id,text\n1,caf\xe9\n2,b\n".encode(encoding))
    found = [item.text for item in read_inputs([str(tmp_path)], encoding=encoding)]
    assert found == ["caf\xe9", "b"] * 2


def test_a_byte_order_mark_of_utf8_changes_nothing_else(tmp_path):
    path = tmp_path / "news.jsonl"
    path.write_bytes(b'\xef\xbb\xbf{"text": "a"}\n{"text": "caf\xe9"}\n{"text": "b"}\n')
    first, bad, last = read_inputs([str(path)], encoding="utf-8-sig", max_document_bytes=100)
    assert (first.text, last.text) == ("a", "b")
    assert (bad.source, InputSource([str(path)], "utf-8-sig").tables("bytes") is None) == (f"{path}:2", False)


def test_a_large_csv_file_of_another_encoding_is_named(tmp_path):
    path = tmp_path / "news.csv"
    begin = b"id,text\n" + "1,caf\u00e9\n".encode() * 300_000
    path.write_bytes(begin + b"2,caf\xe9\n")
    *_, failure = read_inputs([str(path)], max_document_bytes=1000)
    assert f"expected utf-8, got byte 0xe9 at offset {len(begin) + 5};" in failure.reason


@pytest.mark.parametrize("encoding", ["utf-16", "utf-32", "utf-8-sig"])
def test_byte_order_marks_name_the_encoding(tmp_path, encoding):
    path = tmp_path / "note.txt"
    path.write_bytes("It rained – a lot.".encode(encoding))
    (item,) = read_inputs([str(path)])
    assert item.text == "It rained – a lot."


def test_the_default_encoding_has_one_identity(tmp_path):
    path = tmp_path / "note.txt"
    path.write_text("It rained.")
    first, second = (InputSource([str(path)], encoding).identity() for encoding in (None, "declared"))
    assert first == second
