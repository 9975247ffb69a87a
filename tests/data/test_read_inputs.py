import gzip
import io
import json
import os
import socket
import sys
import threading
import tracemalloc
from pathlib import Path

import pyarrow
import pyarrow.parquet
import pytest

from discsum.data.failures import Failure
from discsum.data.input_source import InputSource
from discsum.data.inputs import Item, count_inputs, read_inputs
from discsum.data.pairs import PairSource
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


def test_names_of_rows(tmp_path):
    path = tmp_path / "news.jsonl"
    path.write_text(
        '{"text": "a", "id": 7}\n{"text": "b", "id": ""}\n{"text": "c", "id": null}\n{"text": "d", "id": "x"}\n'
    )
    assert [item.id for item in read_inputs([str(path)])] == ["7", "news-2", "news-3", "x"]


def test_the_article_is_the_text_where_there_are_both(tmp_path):
    path = tmp_path / "news.csv"
    path.write_text("text,article\nshort,long\n")
    assert [item.text for item in read_inputs([str(path)])] == ["long"]
    assert [item.text for item in read_inputs([str(path)], text_column="text")] == ["short"]


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


def test_a_gzip_file_that_is_cut_off_gives_what_it_has(tmp_path):
    path = tmp_path / "news.jsonl.gz"
    content = gzip.compress("".join(f'{{"text": "text {number}"}}\n' for number in range(30_000)).encode())
    path.write_bytes(content[: len(content) // 2])
    *found, failure = read_inputs([str(path)])
    assert [item.text for item in found[:2]] == ["text 0", "text 1"]
    assert "expected a complete gzip file, got a truncated or damaged one" in failure.reason


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
    assert "field larger than field limit (1000)" in failure.reason


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


def test_records_that_are_not_those_of_the_table_are_told(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text("id,article\n1,The river rose, and the wheel stopped.\n2,It rained.\n")
    failure, item = read_inputs([str(path)])
    assert f"{path}:2: expected 2 fields, got 3; put quotes around a field" in str(failure)
    assert item.text == "It rained."
    path.write_text('id,article\n1,"He said to them.\n2,Next document.\n3,Third.\n')
    (failure,) = read_inputs([str(path)])
    assert "expected a record with fields quoted as in CSV, got: unexpected end of data" in str(failure)


def test_an_open_quote_is_named_by_the_line_of_its_record(tmp_path):
    path = tmp_path / "news.csv"
    path.write_text('id,text\n1,Rain\n2,"It rained\nand rained\n')
    *_, failure = read_inputs([str(path)])
    assert f"{path}:3: expected a record with fields quoted as in CSV" in str(failure)
    path.write_text('id,"text\n1,Rain\n')
    (failure,) = read_inputs([str(path)])
    assert f"{path}:1: expected a record" in str(failure)


def test_a_bad_row_of_a_csv_table_fails_alone(tmp_path):
    """A line that is too long or of another encoding, also inside quotes, and too many fields."""
    path = tmp_path / "rows.csv"
    lines = [
        b"id,text",
        b"1,First.",
        b"2,caf\xe9",
        b'3,"Two',
        b'caf\xe9 lines"',
        b"4," + b"x" * 2000,
        b"5,a,b",
        b"6,Last.",
    ]
    path.write_bytes(b"\n".join(lines) + b"\n")
    found = limited(path, 1000)
    assert [item.text if isinstance(item, Item) else item.source for item in found] == [
        "First.",
        f"{path}:3",
        f"{path}:5",
        f"{path}:6",
        f"{path}:7",
        "Last.",
    ]
    assert "expected utf-8, got byte 0xe9 at offset" in found[1].reason
    assert "expected a line of at most 1,000 characters, got more" in found[3].reason


@pytest.mark.parametrize(
    ("middle", "line"),
    [
        (b'2,"open\n' + b"x" * 2000 + b'"', 4),
        (b'2,"' + b"x" * 2000 + b'\n9,Inside.\n"', 3),
        (b'2,"Two "words" here"', 3),
    ],
)
def test_rows_after_a_csv_record_without_a_known_end_are_not_read(tmp_path, middle, line):
    path = tmp_path / "rows.csv"
    path.write_bytes(b"id,text\n1,First.\n" + middle + b"\n3,Lost.\n")
    first, failure = limited(path, 1000)
    assert first.text == "First."
    assert f"{path}:{line}: expected" in failure.reason and failure.reason.endswith("; rows from there on are not read")
    # A dataset must not end there unnoticed.
    with pytest.raises(InputError, match="rows from there on are not read"):
        list(PairSource(str(path), summary_column="id", max_document_bytes=1000).pairs())


def test_long_lines_with_whole_quotes_are_one_row_of_csv(tmp_path):
    path = tmp_path / "rows.csv"
    long = b"x" * 2000
    path.write_bytes(b'id,text\n1,"' + long + b'"\n2,"Two\n' + long + b' ""x"" \nlines"\n3,Last.\n')
    first, second, last = limited(path, 1000)
    assert (first.source, second.source, last.text) == (f"{path}:2", f"{path}:4", "Last.")


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_line_ends_of_csv_tables(tmp_path, end):
    path = tmp_path / "rows.csv"
    content = f'\ufeffid,text{end}1,"Two{end}lines"{end}{end}2,x,y{end}3,caf\xe9{end}4,Last.{end}'
    path.write_bytes(content.encode("latin-1", "ignore").replace(b"id,", "\ufeffid,".encode()))
    first, failure, other, last = limited(path, 1000)
    assert (first.id, first.text.splitlines(), last.text) == ("1", ["Two", "lines"], "Last.")
    assert (failure.source, other.source) == (f"{path}:5", f"{path}:6")
    offset = path.read_bytes().index(b"\xe9")
    assert f"expected utf-8, got byte 0xe9 at offset {offset};" in other.reason


def test_links_to_folders_are_named(tmp_path):
    inside, other = tmp_path / "set" / "inside", tmp_path / "other"
    for folder, name in ((inside, "a"), (other, "b")):
        folder.mkdir(parents=True)
        (folder / f"{name}.txt").write_text("Rain fell.")
    (tmp_path / "set" / "inside" / "linked").symlink_to(other)
    with pytest.warns(InputWarning, match=r"set: left out links to folders \(.*/inside/linked\); name the"):
        found = [item.source for item in read_inputs([str(tmp_path / "set")])]
    assert found == [f"{inside}/a.txt"]


def test_files_that_are_left_out_are_counted_once(tmp_path):
    for name in ("a.txt", "b.zip"):
        (tmp_path / name).write_text("Rain fell.")
    source = InputSource([str(tmp_path), str(tmp_path / "*")])
    with pytest.warns(InputWarning, match=r"left out 1 of 2 files, whose endings \(\.zip\)") as told:
        source.identity()
        assert len(list(source.items())) == 2
    assert len(told) == 2


def test_documents_are_those_of_the_files_that_were_identified(tmp_path):
    paths = [tmp_path / name for name in ("a.txt", "b.txt")]
    for path in paths:
        path.write_text("Rain fell.")
    source = InputSource([str(tmp_path)])
    source.identity()
    (tmp_path / "c.txt").write_text("Nobody came.")
    assert len(list(source.items())) == 2
    paths[1].write_text("The mill stood still.")
    with pytest.raises(InputError, match=r"b\.txt: expected the file of 10 bytes that .* began with, got a changed"):
        list(source.items())
    paths[0].unlink()
    with pytest.raises(InputError, match=r"a\.txt: expected the file of 10 bytes .*, got .*; start again"):
        list(source.items())


def test_a_single_table_in_a_folder_is_hashed_whole(tmp_path):
    path = tmp_path / "set" / "news.jsonl"
    path.parent.mkdir()
    row = json.dumps({"text": "x" * 200, "summary": "y"}) + "\n"
    path.write_text(row * 30_000)
    before = [PairSource(str(name)).identity() for name in (path.parent, path.parent / "*.jsonl")]
    content = bytearray(path.read_bytes())
    content[content.index(b"x", 80_000)] = ord("z")
    path.write_bytes(content)
    after = [PairSource(str(name)).identity() for name in (path.parent, path.parent / "*.jsonl")]
    assert all(old != new for old, new in zip(before, after, strict=True))
