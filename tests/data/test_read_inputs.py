import gzip
import io
import json
import os
import socket
import sys
import tarfile
import threading
import tracemalloc
from pathlib import Path

import pyarrow
import pyarrow.parquet
import pytest

from discsum.data.failures import Failure
from discsum.data.input_source import InputSource
from discsum.data.inputs import Item, count_inputs, read_inputs
from discsum.data.tables import read_rows
from discsum.data.tasks import shards_of
from discsum.errors import InputError, InputWarning


def rows(path):
    return list(read_rows(path, "utf-8"))


def test_text_comes_as_it_is(tmp_path):
    path = tmp_path / "a b.txt"
    path.write_bytes("One\r\ntwo\u2028 \x00three\n".encode())
    assert list(read_inputs([str(path)])) == [Item("a b", str(path), "One\r\ntwo\u2028 \x00three\n")]


def test_standard_input(monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"Rain\r\n")))
    assert list(read_inputs(["-"])) == [Item("stdin", "standard input", "Rain\r\n")]
    for failure in read_inputs(["-", "-"]):
        assert failure == Failure("-", "expected standard input once, got it several times")


def test_a_folder_in_the_order_of_its_names(tmp_path):
    (tmp_path / "b").mkdir()
    for name in ("c.txt", "a.TXT", "b/z.txt", "b/y.jsonl", "notes.text"):
        (tmp_path / name).write_text('{"text": "Rain"}')
    found = list(read_inputs([str(tmp_path)]))
    assert [item.id for item in found] == ["a", "y-1", "z", "c"]


def test_trees_are_left_out_where_they_do_not_do(tmp_path):
    (tmp_path / "tree.rs3").write_text("<rst/>")
    (tmp_path / "a.txt").write_text("Rain")
    assert [item.id for item in read_inputs([str(tmp_path)], trees=False)] == ["a"]
    assert [type(item) for item in read_inputs([str(tmp_path)])] == [Item, Failure]


def test_what_cannot_be_read_does_not_stop_the_rest(tmp_path):
    (tmp_path / "a.txt").write_text("Rain")
    found = list(read_inputs([str(tmp_path / "gone"), str(tmp_path / "a.txt")]))
    assert found[0] == Failure(str(tmp_path / "gone"), f"{tmp_path / 'gone'}: no such file or folder")
    assert found[1].text == "Rain"


def test_no_size_is_too_large(tmp_path):
    for name in ("a.csv", "b.jsonl", "c.txt"):
        (tmp_path / name).write_text('{"text": "Rain."}' if name == "b.jsonl" else "text\nRain.\n")
    found = list(read_inputs([str(tmp_path)], max_document_bytes=10**30))
    assert [item.text for item in found] == ["Rain.", "Rain.", "text\nRain.\n"]


def test_lines_in_cells_and_in_json(tmp_path):
    path = tmp_path / "news.csv"
    path.write_bytes(b'text,id\r\n"one\r\n\r\ntwo",a\r\nthree,b\r\n')
    assert [row["text"] for _, row in rows(path)] == ["one\r\n\r\ntwo", "three"]
    path = tmp_path / "news.jsonl"
    path.write_text('{"text": "one\u2028two"}\r\n   \n{"text": "three"}', encoding="utf-8")
    assert rows(path) == [(f"{path}:1", {"text": "one\u2028two"}), (f"{path}:3", {"text": "three"})]


def test_a_table_of_no_known_kind(tmp_path):
    path = tmp_path / "news.xlsx"
    path.write_bytes(b"")
    with pytest.raises(InputError, match=r"news\.xlsx: expected a table that ends in \.jsonl, "):
        rows(path)


def test_csv_errors_name_the_line_a_record_begins_on(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text('id,text\na,"one\ntwo\nthree"\nb\n')
    items = list(read_inputs([str(path)]))
    assert [item.source for item in items] == [f"{path}:2", f"{path}:5"]


def test_tab_separated_tables(tmp_path):
    path = tmp_path / "news.TSV"
    path.write_bytes(b'id\ttext\r\n1\t"Rain, and\twind"\r\n2\tFlood, "again"\r\n')
    items = list(read_inputs([str(tmp_path)]))
    assert [(item.id, item.text) for item in items] == [("1", "Rain, and\twind"), ("2", 'Flood, "again"')]
    assert [item.source for item in items] == [f"{path}:2", f"{path}:3"]
    # A table without the column fails once, like a CSV file.
    [failure] = read_inputs([str(path)], text_column="body", encoding="utf-8")
    assert "expected a column body, got the columns id, text" in str(failure)


def test_documents_are_counted_where_that_is_cheap(tmp_path):
    for name in ("a.txt", "b.rs3"):
        (tmp_path / name).write_text("Rain.")
    table = tmp_path / "c.jsonl"
    table.write_text('{"text": "a"}\n\n{"text": "b"}\n[]\n')
    assert count_inputs([str(tmp_path)]) == 2 + 3
    assert count_inputs([str(tmp_path), "-", str(tmp_path / "gone")]) == len(list(read_inputs([str(tmp_path)]))) + 2
    (tmp_path / "d.csv").write_text("text\na\n")
    assert count_inputs([str(tmp_path)]) is None


def limited(path, largest, **options):
    return list(read_inputs([str(path)], max_document_bytes=largest, **options))


def test_a_longer_line_fails_alone(tmp_path):
    long = json.dumps({"text": "x" * 5000})
    path = tmp_path / "rows.jsonl.gz"
    with gzip.open(path, "wt") as file:
        file.write('{"text": "First."}\n' + long + "\n" + '{"text": "Third."}\n' + long)
    first, second, third, fourth = limited(path, 1000)
    assert (first.text, third.text) == ("First.", "Third.")
    assert second.reason == (
        "expected a line of at most 1,000 bytes, got more; split it, or raise max_document_bytes (--max-document-bytes)"
    )
    assert (second.source, fourth.source) == (f"{path}:2", f"{path}:4")


def test_of_a_longer_line_no_more_is_kept(tmp_path):
    path = tmp_path / "rows.jsonl.gz"
    with gzip.open(path, "wb", compresslevel=1) as file:
        for _ in range(100):
            file.write(b" " * 1_000_000)
    tracemalloc.start()
    (failure,) = limited(path, 100_000)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert isinstance(failure, Failure)
    assert most < 5_000_000


@pytest.mark.parametrize("largest", range(1, 40))
def test_lines_are_the_same_whatever_the_limit(tmp_path, largest):
    lines = ["{}", "", '{"text": "abc"}', "x" * 30, "y" * 31, '{"text": "def"}', ""]
    path = tmp_path / "rows.jsonl"
    path.write_text("\n".join(lines))
    found = {entry.source: entry for entry in limited(path, largest)}
    for number, line in enumerate(lines, start=1):
        # The limit includes the line ending.
        fits = len(line) + (number < len(lines)) <= largest
        assert (f"{path}:{number}" in found) == (bool(line) or not fits)
        if line.startswith('{"'):
            assert isinstance(found[f"{path}:{number}"], Failure) != fits


@pytest.mark.parametrize("name", ["long.txt", "long.csv", "long.tsv", "long.rs3", "long.json", "long.md"])
def test_longer_files_fail(tmp_path, name):
    (tmp_path / name).write_text("text\n" + "x" * 3000)
    (failure,) = limited(tmp_path / name, 1000)
    assert "at most 1,000" in failure.reason


def test_a_longer_field_of_a_record_fails(tmp_path):
    (tmp_path / "rows.csv").write_text('text\nfirst\n"' + "long line\n" * 300 + '"\n')
    first, failure = limited(tmp_path / "rows.csv", 1000)
    assert first.text == "first"
    assert "expected fields of at most 1,000 characters, got a longer one" in failure.reason


def test_longer_texts_of_parquet_fail_alone(tmp_path):
    table = pyarrow.table({"text": ["short", "x" * 2000, "also short"]})
    pyarrow.parquet.write_table(table, tmp_path / "rows.parquet")
    first, failure, third = limited(tmp_path / "rows.parquet", 1000)
    assert (first.text, third.text) == ("short", "also short")
    assert "expected a text of at most 1,000 bytes" in failure.reason


@pytest.mark.skipif(not Path("/dev/zero").exists(), reason="POSIX")
def test_a_file_without_end_fails():
    (failure,) = limited("/dev/zero", 10_000)
    assert "/dev/zero: expected at most 10,000 bytes, got more" in failure.reason


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="POSIX")
def test_a_pipe_is_read_and_a_socket_is_not(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    thread = threading.Thread(target=lambda: (tmp_path / "pipe").write_text("From a pipe."))
    thread.start()
    (item,) = limited(tmp_path / "pipe", 1000)
    thread.join()
    assert item.text == "From a pipe."
    with socket.socket(socket.AF_UNIX) as own:
        own.bind(str(tmp_path / "socket"))
        (failure,) = limited(tmp_path / "socket", 1000)
    assert failure.reason.endswith("socket: expected a file or folder, got a socket")


@pytest.mark.skipif(not Path("/dev/zero").is_char_device(), reason="needs /dev/zero, which never ends")
def test_a_table_may_be_a_pipe_but_no_device(tmp_path):
    os.mkfifo(tmp_path / "pipe.jsonl")
    writer = threading.Thread(target=(tmp_path / "pipe.jsonl").write_text, args=('{"text": "Rain fell."}\n',))
    writer.start()
    assert [item.text for item in read_inputs([str(tmp_path / "pipe.jsonl")])] == ["Rain fell."]
    writer.join()
    endless = tmp_path / "endless.jsonl"
    endless.symlink_to("/dev/zero")
    (failure,) = read_inputs([str(endless)])
    assert failure.reason == f"{endless}: expected a table, got a device; name a file or a pipe"


@pytest.mark.parametrize("name", ["rows.jsonl", "rows.jsonl.gz", "rows.csv", "rows.parquet"])
def test_a_table_without_documents_warns(tmp_path, name):
    if name.endswith(".parquet"):
        pyarrow.parquet.write_table(pyarrow.table({"text": pyarrow.array([], pyarrow.string())}), tmp_path / name)
    elif name.endswith(".gz"):
        (tmp_path / name).write_bytes(gzip.compress(b""))
    else:
        (tmp_path / name).write_text("text\n" if name.endswith(".csv") else "")
    with pytest.warns(InputWarning, match=f"{name}: expected a table with documents, got none"):
        assert list(read_inputs([str(tmp_path / name)])) == []


def test_an_empty_name_is_no_folder():
    (failure,) = read_inputs([""])
    assert failure.reason == "expected the name of a file or folder, got an empty one"


def test_values_of_parquet_that_python_cannot_hold_fail_alone(tmp_path):
    texts = pyarrow.array([b"good", b"caf\xe9", b"fine", b"late"]).cast(pyarrow.binary())
    texts = pyarrow.Array.from_buffers(pyarrow.string(), 4, texts.buffers())
    times = pyarrow.array([0, 0, 0, 10**13], pyarrow.timestamp("s"))
    # Columns that are not needed are not read, so their values cannot fail.
    columns = {"text": texts, "id": times, "time": times}
    nowhere = pyarrow.array([0], pyarrow.timestamp("s", "Sea/Nowhere"))
    pyarrow.parquet.write_table(pyarrow.table({"text": ["good"], "id": nowhere}), tmp_path / "zone.parquet")
    (failure,) = read_inputs([str(tmp_path / "zone.parquet")])
    assert str(failure).startswith(f"{tmp_path / 'zone.parquet'}:1: expected a readable timestamp[ms, tz=Sea/Nowhere] ")
    pyarrow.parquet.write_table(pyarrow.table(columns), tmp_path / "rows.parquet")
    found = list(read_inputs([str(tmp_path / "rows.parquet")]))
    assert [item.text for item in found if isinstance(item, Item)] == ["good", "fine"]
    first, second = (str(one) for one in found if isinstance(one, Failure))
    assert first.startswith(f"{tmp_path / 'rows.parquet'}:2: expected a readable string value in column text")
    assert second.startswith(f"{tmp_path / 'rows.parquet'}:4: expected a readable timestamp[ms] value in column id")
    source = InputSource([str(tmp_path / "rows.parquet")])
    (sliced,) = shards_of(source.items(), 100, tables=source.tables())
    assert list(sliced) == found


def test_texts_are_measured_in_bytes(tmp_path):
    (tmp_path / "rows.jsonl").write_text(json.dumps({"text": "\u00e9" * 8}) + "\n")
    table = pyarrow.table({"text": ["\u00e9" * 8]})
    pyarrow.parquet.write_table(table, tmp_path / "rows.parquet")
    (failure,) = limited(tmp_path / "rows.parquet", 15)
    assert "expected a text of at most 15 bytes" in failure.reason
    (item,) = limited(tmp_path / "rows.parquet", 16)
    assert isinstance(item, Item)


def test_documents_that_a_manifest_does_not_list_are_named(tmp_path):
    recipe = {"command": "parse", "documents": {}, "made_by": {}}
    shards = [{"file": "part-00000.jsonl.gz", "documents": 1, "failed": 0, "sha256": "", "entries": ""}]
    content = {"recipe": recipe, "shards": shards, "width": 0, "format": 1, "documents": 1, "failed": 0}
    (tmp_path / "manifest.json").write_text(json.dumps(content))
    (tmp_path / "part-00000.jsonl.gz").write_bytes(gzip.compress(b'{"text": "It rained."}\n'))
    (tmp_path / "mine.txt").write_text("Snow.")
    (tmp_path / "failures.jsonl").write_text("")
    with pytest.warns(
        InputWarning, match="left out mine.txt, because only the files that manifest.json lists are read"
    ):
        (item,) = read_inputs([str(tmp_path)])
    assert item.text == "It rained."


@pytest.mark.parametrize(("content", "kind"), [(b"\x1f\x8b\x08\xff", "a gzip file"), (b"PK\x03\x04\xff", "a zip")])
def test_files_that_are_no_text_are_named(tmp_path, content, kind):
    (tmp_path / "a.txt").write_bytes(content)
    (failure,) = read_inputs([str(tmp_path / "a.txt")])
    assert f"expected utf-8, got {kind}" in failure.reason


def test_archives_are_refused(tmp_path):
    (tmp_path / "a.txt").write_text("It rained.")
    with tarfile.open(tmp_path / "b.txt", "w") as archive:
        archive.add(tmp_path / "a.txt", "a.txt")
    (failure,) = read_inputs([str(tmp_path / "b.txt")])
    assert "expected utf-8, got a tar archive; unpack it first" in failure.reason


def test_rows_after_damage_are_said_to_be_unread(tmp_path):
    table = pyarrow.table({"text": [f"Rain {number}." for number in range(40)]})
    path = tmp_path / "news.parquet"
    pyarrow.parquet.write_table(table, path, row_group_size=10, compression="none", use_dictionary=False)
    content = bytearray(path.read_bytes())
    place = content.index(b"Rain 20.")
    content[place - 30 : place] = b"\xff" * 30
    path.write_bytes(content)
    *read, failure = read_inputs([str(path)])
    assert [item.text for item in read] == [f"Rain {number}." for number in range(20)]
    assert "; what follows row 20 is not read" in failure.reason
    packed = gzip.compress(b"".join(b'{"text": "Rain %d."}\n' % number for number in range(20_000)))
    (tmp_path / "news.jsonl.gz").write_bytes(packed[: len(packed) // 2])
    *read, failure = read_inputs([str(tmp_path / "news.jsonl.gz")])
    assert f"; what follows line {len(read):,} is not read" in failure.reason


def test_files_of_parquet_are_closed(tmp_path, monkeypatch):
    path = tmp_path / "news.parquet"
    pyarrow.parquet.write_table(pyarrow.table({"text": ["Rain.", "Wind."]}), path)
    files = []

    def source(path):
        files.append(path.open("rb"))
        return files[-1]

    # As for names that are no UTF-8, and for stores.
    monkeypatch.setattr("discsum.data.parquet_files._source", source)
    assert len(list(read_inputs([str(path)]))) == count_inputs([str(path)]) == 2
    assert [file.closed for file in files] == [True, True]
