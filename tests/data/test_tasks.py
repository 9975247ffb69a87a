"""The documents of each shard are those that one process would read from the tables, named by their position."""

import csv
import gzip
import io
import json
import pickle
import threading
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from small_news import pairs as small_pairs

from discsum.batches import batches
from discsum.data import divided_tables
from discsum.data.divided_tables import SlicedDocuments
from discsum.data.failures import Failure
from discsum.data.input_source import InputSource
from discsum.data.pairs import PairSource
from discsum.data.tasks import shards_of
from discsum.errors import InputError, InputWarning

TEXTS = {pair.id: (pair.text, pair.references[0]) for pair in small_pairs(0, 25)}
ROWS = [
    {"id": id if number % 3 else None, "text": text, "summary": summary}
    for number, (id, (text, summary)) in enumerate(TEXTS.items())
]


def write(path, rows=ROWS):
    """Write rows as a table in the format of the file name."""
    path.parent.mkdir(exist_ok=True)
    lines = "".join(json.dumps(row) + "\n" for row in rows).encode()
    if path.suffix == ".parquet":
        pq.write_table(pa.Table.from_pylist(rows), path, row_group_size=4)
    elif path.suffix == ".csv":
        with path.open("w", newline="") as file:
            writer = csv.DictWriter(file, ["id", "text", "summary"])
            writer.writeheader()
            writer.writerows(rows)
    else:
        path.write_bytes(gzip.compress(lines) if path.suffix == ".gz" else lines)
    return path


def divided(source, size, unit="documents", first=0, last=None):
    """Return the shards of a table's pairs."""
    pairs = source.pairs(first, last)
    return shards_of(pairs, size, unit, pairs.tables())


@pytest.mark.parametrize("name", ["t.jsonl", "t.parquet", "t.csv", "t.jsonl.gz"])
@pytest.mark.parametrize(("first", "last"), [(0, None), (3, 17), (24, 99), (25, None)])
def test_shards_of_a_table(tmp_path, name, first, last):
    source = PairSource(str(write(tmp_path / name)))
    wanted = list(source.pairs(first, last))
    assert len(wanted) == len(ROWS[first:last])
    found = list(divided(source, 4, first=first, last=last))
    assert [list(shard) for shard in found] == list(batches(wanted, 4))
    assert {type(shard) is SlicedDocuments for shard in found} <= {name in ("t.jsonl", "t.parquet")}


@pytest.mark.parametrize("names", [["a.jsonl", "b.parquet", "c.jsonl"], ["a.parquet", "b.csv"]])
def test_shards_of_several_tables(tmp_path, names):
    for number, name in enumerate(names):
        write(tmp_path / "in" / name, ROWS[number * 8 : number * 8 + 8])
    (tmp_path / "in" / "notes.txt").write_text("no table")
    (tmp_path / "in" / ".hidden.jsonl").write_text("{}")
    for name in (tmp_path / "in", tmp_path / "in" / "*.*"):
        source = PairSource(str(name))
        wanted = list(source.pairs())
        assert [pair.text for pair in wanted] == [row["text"] for row in ROWS[: 8 * len(names)]]
        assert len({pair.id for pair in wanted}) == len(wanted)
        assert [list(shard) for shard in divided(source, 5)] == list(batches(wanted, 5))
        assert source.count() in (len(wanted), None)


def test_shards_of_bytes(tmp_path):
    for name in ("a.jsonl", "b.parquet"):
        write(tmp_path / "in" / name)
    source = PairSource(str(tmp_path / "in"))
    shards = [list(shard) for shard in divided(source, 900, "bytes")]
    found = [pair for shard in shards for pair in shard]
    assert [(pair.text, pair.references) for pair in found] == [(row["text"], (row["summary"],)) for row in ROWS] * 2
    assert len(shards) > 10
    # A document without an id is named by the byte of its line, or in Parquet by its row.
    assert [pair.id for pair in found[:2]] == ["a-at-0", "text-1"]
    assert found[25].id == "b-1"


def test_a_task_carries_no_text(tmp_path):
    source = PairSource(str(write(tmp_path / "t.jsonl", ROWS * 20)))
    shards = list(divided(source, 250))
    assert [len(pickle.dumps(shard)) < 1000 for shard in shards] == [True, True]
    assert [len(list(pickle.loads(pickle.dumps(shard)))) for shard in shards] == [250, 250]


def test_of_shards_of_bytes_nobody_reads_what_is_not_asked_for(tmp_path, monkeypatch):
    source, reads = PairSource(str(write(tmp_path / "t.jsonl", ROWS * 400))), []
    size = Path(source.name).stat().st_size

    class Noting(io.FileIO):
        def readinto(self, buffer):
            begin = self.tell()
            reads.append((begin, super().readinto(buffer)))
            return reads[-1][1]

    monkeypatch.setattr(Path, "open", lambda path, mode: io.BufferedReader(Noting(path, mode)))
    shards = list(divided(source, 1 << 16, "bytes"))
    assert len(shards) == -(-size // (1 << 16)) > 20
    # Only the first row is read, to check its columns.
    assert sum(count for _, count in reads) <= io.DEFAULT_BUFFER_SIZE
    reads.clear()
    assert len(list(shards[7])) > 100
    for begin, count in reads:
        assert 7 * (1 << 16) - 1 <= begin <= begin + count <= 8 * (1 << 16) + io.DEFAULT_BUFFER_SIZE


def test_relative_paths_are_of_the_folder_where_the_run_began(tmp_path, monkeypatch):
    write(tmp_path / "t.jsonl")
    monkeypatch.chdir(tmp_path)
    (shard,) = divided(PairSource("t.jsonl"), 100)
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    assert len(list(shard)) == 25


def test_lines_that_are_no_rows_are_named_by_line_or_byte(tmp_path):
    path = write(tmp_path / "t.jsonl")
    begin = path.stat().st_size
    path.write_bytes(path.read_bytes() + b'\n{"text": 5}\n')
    for size, unit, place in ((100, "documents", ":27"), (1 << 20, "bytes", f" at byte {begin + 1}")):
        (shard,) = divided(PairSource(str(path)), size, unit)
        (failure,) = (entry for entry in shard if isinstance(entry, Failure))
        assert failure.source == f"{path}{place}"
        assert failure.reason.startswith("expected a column references or")


@pytest.mark.parametrize("unit", ["documents", "bytes"])
@pytest.mark.parametrize("name", ["t.jsonl", "t.parquet"])
def test_a_table_without_the_columns_fails_before_a_task_is_drawn(tmp_path, name, unit):
    source = PairSource(str(write(tmp_path / name)), text_column="body")
    with pytest.raises(InputError, match=rf"{name}:1: expected a column body, got the columns id, text, summary"):
        next(divided(source, 4, unit))


@pytest.mark.parametrize("name", ["t.csv", "t.jsonl.gz"])
def test_tables_that_cannot_be_divided_by_bytes(tmp_path, name):
    source = PairSource(str(write(tmp_path / name)))
    with pytest.raises(InputError, match="for shards sized in bytes, got others; give a number of documents"):
        next(divided(source, 4, "bytes"))
    with pytest.raises(InputError, match=f"{name}: expected a table that ends in .jsonl, .* for shards sized"):
        source.pairs().tables("bytes")


def test_some_rows_have_no_known_bytes(tmp_path):
    source = PairSource(str(write(tmp_path / "t.jsonl")))
    for first, last, rows in ((3, None, "3 to the end"), (0, 7, "0 to 7")):
        with pytest.raises(InputError, match=f"expected all rows of the tables .*, got rows {rows};"):
            next(divided(source, 100, "bytes", first, last))


def test_what_is_no_table(tmp_path):
    (tmp_path / "in").mkdir()
    for name, message in (("none.jsonl", "found no such file"), ("in", "found none"), ("*.jsonl", "found none")):
        with pytest.raises(InputError, match=message):
            PairSource(str(tmp_path / name)).identity()


def test_identities_without_reading_everything(tmp_path):
    path = write(tmp_path / "in" / "t.jsonl", ROWS * 4000)
    size = path.stat().st_size
    source, several = PairSource(str(path)), PairSource(str(tmp_path / "in"))
    before = source.identity(hashed=False), several.identity()
    assert before[0].keys() == {"name", "bytes", "version", "text_column", "summary_column"}
    assert source.identity().keys() == {"name", "sha256", "text_column", "summary_column"}
    for place in (0, size // 2 // (1 << 16) * (1 << 16), size - 1):
        content = path.read_bytes()
        with path.open("rb+") as file:
            file.seek(place)
            file.write(bytes([content[place] ^ 1]))
        if place in (0, size - 1):
            assert source.identity(hashed=False) != before[0]
            assert several.identity() != before[1]
        path.write_bytes(content)
    # The time of the last change does not matter.
    assert (source.identity(hashed=False), several.identity()) == before
    write(tmp_path / "in" / "u.jsonl")
    assert PairSource(several.name).identity()["files"] == 2


def texts_of(source, size, unit="documents"):
    """Return the shards of a command's inputs."""
    return list(shards_of(source.items(), size, unit, source.tables(unit)))


@pytest.mark.parametrize("names", [["t.jsonl"], ["t.parquet"], ["a.jsonl", "b.parquet"]])
def test_shards_of_texts(tmp_path, names):
    for name in names:
        write(
            tmp_path / "in" / name, [{"title": "no text"} if name == "t.jsonl" else ROWS[0], *ROWS, {"text": "x" * 400}]
        )
    if "t.jsonl" in names:
        with (tmp_path / "in" / "t.jsonl").open("ab") as file:
            file.write(b'\n{"text": "caf\xe9"}\n[1]\n\n{"text": "<b>Rain</b>"}\n')
    for encoding in (None, "utf-8"):
        source = InputSource([str(tmp_path / "in")], encoding, input="html", max_document_bytes=300)
        wanted = list(source.items())
        found = texts_of(source, 4)
        assert all(isinstance(shard, SlicedDocuments) for shard in found)
        assert [list(shard) for shard in found] == list(batches(wanted, 4))
        assert len(pickle.dumps(found[0])) < 1000
        assert any(isinstance(item, Failure) for item in wanted)
        by_bytes = [item for shard in texts_of(source, 700, "bytes") for item in shard]
        assert [item.text for item in by_bytes if not isinstance(item, Failure)] == [
            item.text for item in wanted if not isinstance(item, Failure)
        ]
        assert len(by_bytes) == len(wanted)


@pytest.mark.parametrize(
    ("other", "reason"),
    [
        ("a.txt", "a.txt: expected a table that ends in .jsonl, .* for shards sized in bytes; give a number"),
        ("a.csv", "a.csv: expected a table that ends in .jsonl, .* for shards sized in bytes; give a number"),
        ("a.jsonl.gz", "a.jsonl.gz: expected a table that ends in"),
        ("latin-1", "t.jsonl: expected utf-8 for shards sized in bytes, got the encoding latin-1; give a"),
        ("missing", "missing: no such file or folder"),
        ("-", "-: expected files, which can be read again, got standard input; save it to a file first$"),
    ],
)
def test_inputs_that_one_process_reads(tmp_path, other, reason, monkeypatch):
    monkeypatch.chdir(tmp_path)
    inputs, encoding = [str(write(tmp_path / "t.jsonl", ROWS[:3]))], None
    if other == "latin-1":
        encoding = other
    else:
        if other.startswith("a."):
            write(tmp_path / other, ROWS[:2])
        inputs.append(other)
    source = InputSource(inputs, encoding)
    assert source.tables() is None
    with pytest.raises(InputError, match=reason):
        source.tables("bytes")
    if other != "-":
        (shard,) = texts_of(source, 100)
        assert shard == list(source.items())
        assert sum(isinstance(item, Failure) for item in shard) == (other == "missing")


@pytest.mark.parametrize("encoding", ["utf8", "UTF-8", "latin-1"])
def test_encodings_of_tables_that_workers_read(tmp_path, encoding):
    kind = "t.parquet" if encoding == "latin-1" else "t.jsonl"
    source = InputSource([str(write(tmp_path / kind))], encoding)
    (shard,) = texts_of(source, 100)
    assert isinstance(shard, SlicedDocuments) and list(shard) == list(source.items())


def test_tables_that_cannot_be_read_are_one_failure_each(tmp_path):
    (tmp_path / "d.parquet").write_bytes(b"PAR1 is cut off")
    write(tmp_path / "c.parquet", [{"body": "Rain."}] * 9)
    inputs = [str(write(tmp_path / "t.jsonl", ROWS[:3])), f"{tmp_path}/d.parquet", f"{tmp_path}/c.parquet"]
    source = InputSource([*inputs, str(write(tmp_path / "u.parquet", ROWS[:3]))])
    wanted = list(source.items())
    assert [isinstance(item, Failure) for item in wanted] == [False] * 3 + [True] * 2 + [False] * 3
    (shard,) = texts_of(source, 100)
    assert isinstance(shard, SlicedDocuments) and list(shard) == wanted
    assert [
        entry for shard in texts_of(source, 1 << 20, "bytes") for entry in shard if type(entry) is Failure
    ] == wanted[3:5]


def test_a_table_without_documents_is_warned_of(tmp_path):
    (tmp_path / "e.jsonl").write_bytes(b"\n")
    source = InputSource([str(write(tmp_path / "t.jsonl", ROWS[:3])), f"{tmp_path}/e.jsonl"])
    with pytest.warns(InputWarning, match="e.jsonl: expected a table with documents, got none"):
        (shard,) = texts_of(source, 100)
    assert len(list(shard)) == 3


@pytest.mark.parametrize("name", ["t.jsonl", "t.parquet"])
def test_an_input_that_is_named_twice(tmp_path, name):
    source = InputSource([str(write(tmp_path / name, ROWS[:5]))] * 2)
    wanted = list(source.items())
    for size in (1, 3, 5, 7, 10):
        assert [list(shard) for shard in texts_of(source, size)] == list(batches(wanted, size))


def test_every_byte_of_what_one_process_reads_counts(tmp_path):
    path = tmp_path / "a.txt"
    path.write_bytes(b"Rain fell. " * 20_000)
    table = write(tmp_path / "t.jsonl", ROWS * 4000)
    for inputs in ([path], [path, table], [table]):
        changed = inputs[-1]
        before = InputSource([str(one) for one in inputs]).identity()
        content = changed.read_bytes()
        place = len(content) // 128 + (1 << 16)
        changed.write_bytes(content[:place] + bytes([content[place] ^ 1]) + content[place + 1 :])
        assert InputSource([str(one) for one in inputs]).identity() != before
        changed.write_bytes(content)
        assert InputSource([str(one) for one in inputs]).identity() == before


def test_a_table_that_changed_is_not_read_by_workers(tmp_path):
    path = write(tmp_path / "t.jsonl")
    (shard,) = texts_of(InputSource([str(path)]), 100)
    write(path, ROWS[:5])
    with pytest.raises(InputError, match=r"expected the table of [\d,]+ bytes that the run began with"):
        list(shard)


def test_every_byte_of_tables_that_the_driver_reads_counts(tmp_path):
    write(tmp_path / "in" / "t.csv", ROWS * 4000)
    path, source = tmp_path / "in" / "t.csv", PairSource(str(tmp_path / "in"))
    before, content = source.identity(), path.read_bytes()
    place = len(content) // 128 + (1 << 16)
    path.write_bytes(content[:place] + bytes([content[place] ^ 1]) + content[place + 1 :])
    assert source.identity() != before


def test_every_parquet_table_of_pairs_has_the_columns(tmp_path):
    write(tmp_path / "in" / "a.parquet")
    pq.write_table(pa.table({"body": ["Rain."], "summary": ["Rain."]}), tmp_path / "in" / "b.parquet")
    with pytest.raises(InputError, match=r"b.parquet: expected a column article or text, got the columns body, summ"):
        list(divided(PairSource(str(tmp_path / "in")), 4))


def test_texts_of_pairs_have_a_limit_in_all_tables(tmp_path):
    for name in ("t.jsonl", "t.parquet"):
        source = PairSource(str(write(tmp_path / name)), max_document_bytes=60)
        assert all(isinstance(pair, Failure) or len(pair.text.encode()) <= 60 for pair in source.pairs())


@pytest.mark.parametrize("unit", ["documents", "bytes"])
def test_footers_are_read_together(tmp_path, monkeypatch, unit):
    folder = tmp_path / "tables"
    for number in range(3):
        write(folder / f"{number}.parquet", ROWS[5 * number : 5 * number + 5])
    together, read = threading.Barrier(3, timeout=10), divided_tables.opened_parquet

    def waiting(path):
        together.wait()
        return read(path)

    monkeypatch.setattr(divided_tables, "opened_parquet", waiting)
    source = PairSource(str(folder))
    assert sum(len(shard.slices) for shard in divided(source, 1000, unit)) >= 3
