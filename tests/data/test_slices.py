"""Slices of tables: however a table is divided, its slices give every row once and in order."""

import io
import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from discsum.batches import batches
from discsum.data import parquet_rows
from discsum.data.divided_tables import DividedTables, SlicedDocuments
from discsum.data.failures import Failure
from discsum.data.input_source import InputSource
from discsum.data.pairs import PairSource
from discsum.data.remote import RemotePath
from discsum.data.slices import RowSlice, joined
from discsum.data.storage import stored, write_bytes
from discsum.data.tables import read_rows
from discsum.errors import InputError

LARGEST = 60
LINE = st.one_of(
    st.sampled_from(
        [b"", b"  ", "\u00a0".encode(), b"\r", b"{", b"[1]", b"\xff\xfe", b" " * 80, b'"' + b"x" * 200 + b'"']
    ),
    st.dictionaries(st.sampled_from(["a", "ü"]), st.text(max_size=8), max_size=2).map(
        lambda row: json.dumps(row).encode()
    ),
    st.integers(0, 9).map(lambda n: json.dumps({"a": "ß" * n}, ensure_ascii=False).encode()),
)
CONTENT = st.tuples(st.sampled_from([b"", b"\xef\xbb\xbf"]), st.lists(LINE, max_size=12), st.booleans()).map(
    lambda parts: parts[0] + b"\n".join(parts[1]) + (b"\n" if parts[2] else b"")
)
OFTEN = settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)


def divided(file, **options):
    """Return a divided table whose documents are its rows."""
    return DividedTables([file], lambda path, row: row, LARGEST, **options)


def rows_of(part):
    """Return an iterator over the rows of a slice."""
    return iter(SlicedDocuments(divided(part.file), (part,)))


def plain(content):
    """Return a row, or the reason of its failure without the place at the beginning."""
    return content.reason.rpartition(": ")[2] if isinstance(content, Failure) else content


@OFTEN
@given(content=CONTENT, size=st.integers(1, 90), count=st.integers(1, 5))
def test_lines_of_any_file(tmp_path, content, size, count):
    path = tmp_path / "t.jsonl"
    path.write_bytes(content)
    wanted = list(read_rows(path, "utf-8", largest=LARGEST))
    lines = content.split(b"\n")

    by_rows = [joined(group) for group in batches(divided(stored(path)).slices(stored(path)), count)]
    found = [[row for part in parts for row in rows_of(part)] for parts in by_rows]
    assert [(row.source, row.content) for rows in found for row in rows] == wanted
    assert [row.label for rows in found for row in rows] == [str(number) for number in range(1, len(wanted) + 1)]
    assert all(len(rows) == count for rows in found[:-1])

    by_bytes = list(divided(stored(path)).slices(stored(path), size))
    rows = [row for part in by_bytes for row in rows_of(part)]
    assert [plain(row.content) for row in rows] == [plain(row) for _, row in wanted]
    for row, (source, _) in zip(rows, wanted, strict=True):
        line = int(source.rpartition(":")[2])
        begin = sum(len(before) + 1 for before in lines[: line - 1])
        assert (row.source, row.label) == (f"{path} at byte {begin}", f"at-{begin}")
    assert len(by_bytes) == -(-len(content) // size)


@OFTEN
@given(data=st.data(), rows=st.integers(1, 600), group=st.integers(1, 300))
def test_rows_of_any_parquet_file(tmp_path, data, rows, group):
    path = tmp_path / "t.parquet"
    pq.write_table(pa.table({"id": range(rows)}), path, row_group_size=group)
    file = stored(path)
    size = data.draw(st.integers(1, 400))
    parts = [part for slices in batches(divided(file).slices(file), size) for part in joined(slices)]
    # Workers read the slices in any order.
    order = data.draw(st.permutations(range(len(parts)))) if len(parts) < 8 else range(len(parts))
    found = {}
    for number in order:
        found[number] = [(row.source, row.label, row.content) for row in rows_of(parts[number])]
    assert [row for number in sorted(found) for row in found[number]] == [
        (f"{path}:{row + 1}", str(row + 1), {"id": row}) for row in range(rows)
    ]
    held = data.draw(st.integers(1, 4000))
    groups = list(divided(file).slices(file, held))
    assert [row.content["id"] for part in groups for row in rows_of(part)] == list(range(rows))
    # Row groups stay whole.
    assert {part.first % group for part in groups} <= {0}
    assert len(list(divided(file).slices(file, 1))) == -(-rows // group)
    assert len(list(divided(file).slices(file, 1 << 30))) == 1


def test_a_slice_that_is_left_in_the_middle_disturbs_no_other(tmp_path):
    path = tmp_path / "t.parquet"
    pq.write_table(pa.table({"id": range(1000)}), path, row_group_size=100)
    slices = list(divided(stored(path)).slices(stored(path)))
    first, second = joined(slices[:600]) + joined(slices[600:])
    reading = rows_of(first)
    assert [next(reading).content["id"] for _ in range(300)] == list(range(300))
    assert [row.content["id"] for row in rows_of(second)] == list(range(600, 1000))
    assert [row.content["id"] for row in rows_of(first)] == list(range(600))


@pytest.mark.parametrize("name", ["t.jsonl", "t.parquet"])
def test_slices_in_stores(place, tmp_path, name):
    rows = [{"a": f"text {number}"} for number in range(500)]
    local = tmp_path / name
    if name == "t.parquet":
        pq.write_table(pa.Table.from_pylist(rows), local, row_group_size=70)
    else:
        local.write_text("".join(json.dumps(row) + "\n" for row in rows))
    write_bytes(place / name, local.read_bytes())
    file = stored(place / name)
    for parts in (joined(list(divided(file).slices(file))), divided(file).slices(file, 700)):
        assert [row.content for part in parts for row in rows_of(part)] == rows


@pytest.mark.parametrize("name", ["t.jsonl", "t.parquet"])
def test_a_table_that_changed_or_went_is_refused(tmp_path, name):
    path = tmp_path / name
    pq.write_table(pa.table({"id": [1]}), path)
    (part,) = divided(stored(path)).slices(stored(path), 1 << 20)
    path.write_bytes(path.read_bytes() + b"x")
    with pytest.raises(
        InputError, match=r"expected the table of \d+ bytes that the run began with, got another one of \d+ bytes;"
    ):
        list(rows_of(part))
    path.unlink()
    with pytest.raises(InputError, match=rf"{name}: expected the table of the run, got No such file"):
        list(rows_of(part))


def test_another_content_of_the_same_size_in_a_store_is_refused(place):
    path = place / "t.jsonl"
    write_bytes(path, b'{"a": "1"}\n')
    (part,) = divided(stored(path)).slices(stored(path), 1 << 20)
    write_bytes(path, b'{"a": "2"}\n')
    assert isinstance(path, RemotePath)
    with pytest.raises(InputError, match="got another one of 11 bytes; start again with a table that does not change"):
        list(rows_of(part))


@pytest.mark.parametrize("name", ["t.jsonl", "t.parquet"])
def test_a_table_that_is_read_twice_in_a_row(tmp_path, name):
    path, rows = tmp_path / name, [{"id": number} for number in range(5)]
    if name == "t.parquet":
        pq.write_table(pa.Table.from_pylist(rows), path)
    else:
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    slices = list(divided(stored(path)).slices(stored(path))) * 2
    for size in range(1, 11):
        shards = [joined(group) for group in batches(slices, size)]
        found = [[row.content for part in parts for row in rows_of(part)] for parts in shards]
        assert found == list(batches(rows * 2, size))


def test_slices_of_an_endless_line_read_their_own_bytes(tmp_path, monkeypatch):
    path, read = tmp_path / "t.jsonl", []
    path.write_bytes(b"[" + b"1," * 50_000 + b"\n{}\n")
    slices = list(divided(stored(path)).slices(stored(path), 1000))

    class Noting(io.FileIO):
        def readinto(self, buffer):
            read.append(super().readinto(buffer))
            return read[-1]

    monkeypatch.setattr(Path, "open", lambda path, mode: io.BufferedReader(Noting(path, mode), 1))
    (long,), *others, (row,) = ([row.content for row in rows_of(part)] for part in slices)
    assert isinstance(long, Failure) and row == {} and others == [[]] * 99
    # The first slice reads all of the line that begins in it; the others read only their own bytes.
    assert sum(read) < 2 * (path.stat().st_size + 2 * 1000)


def damage(path, row_group):
    """Overwrite the data of a row group."""
    column = pq.ParquetFile(path).metadata.row_group(row_group).column(0)
    with path.open("r+b") as file:
        file.seek(column.data_page_offset)
        file.write(b"\xff" * column.total_compressed_size)


def test_damaged_rows_are_one_failure_or_an_error(tmp_path):
    path = tmp_path / "t.parquet"
    pq.write_table(pa.table({"id": range(900)}), path, row_group_size=300, use_dictionary=False)
    damage(path, 1)
    file = stored(path)
    (whole,) = divided(file).slices(file, 1 << 20)
    message = r"t.parquet: expected a Parquet file whose rows can be read: .*; rows 301 to 900 are not read"
    with pytest.raises(InputError, match=message):
        list(SlicedDocuments(divided(file), (whole,)))
    lenient, parts = divided(file, lenient=True), tuple(divided(file).slices(file, 1))
    # Twice, because the result must not depend on what was read before.
    for _ in range(2):
        *rows, failure = SlicedDocuments(lenient, (whole,))
        assert [row.content["id"] for row in rows] == list(range(300))
        assert failure.source == str(path) and failure.reason.endswith("; rows 301 to 900 are not read")
        assert "\n" not in failure.reason
        found = list(SlicedDocuments(lenient, parts[1:]))
        assert [row.content["id"] for row in found if not isinstance(row, Failure)] == list(range(600, 900))
        (failure,) = (row for row in found if isinstance(row, Failure))
        assert failure.reason.endswith("; rows 301 to 600 are not read")


@pytest.mark.parametrize("size", [50, 300, 499])
def test_damage_is_the_same_whoever_reads_the_shards(tmp_path, size):
    path = tmp_path / "t.parquet"
    pq.write_table(pa.table({"id": range(1000)}), path, row_group_size=500, use_dictionary=False, data_page_size=900)
    column = pq.ParquetFile(path).metadata.row_group(1).column(0)
    with path.open("r+b") as file:
        file.seek(column.data_page_offset + column.total_compressed_size // 2)
        file.write(b"\xff" * 20)
    file = stored(path)
    lenient = divided(file, lenient=True)
    shards = [SlicedDocuments(lenient, joined(group)) for group in batches(lenient.slices(file), size)]
    in_order = [list(shard) for shard in shards]
    # Each shard gets its own reader, as in different workers.
    alone = []
    for shard in shards:
        parquet_rows._close()
        alone.append(list(shard))
    assert in_order == alone
    rows = [row for shard in in_order for row in shard if not isinstance(row, Failure)]
    assert [row.content["id"] for row in rows][:500] == list(range(500))
    assert any(isinstance(row, Failure) for shard in in_order for row in shard)
    # The intact row group is read completely.
    assert len(list(SlicedDocuments(lenient, (next(lenient.slices(file, 1)),)))) == 500


def test_a_damaged_end_is_an_error_that_names_the_file(tmp_path):
    path = tmp_path / "t.parquet"
    pq.write_table(pa.table({"id": range(5)}), path)
    content = path.read_bytes()
    path.write_bytes(content[:-30] + b"\xff" * 22 + content[-8:])
    file = stored(path)
    with pytest.raises(InputError, match=r"t\.parquet: expected a Parquet file: \S.*\S$"):
        list(divided(file).slices(file))
    (failure,) = SlicedDocuments(divided(file, lenient=True), tuple(divided(file, lenient=True).slices(file)))
    assert "t.parquet: expected a Parquet file: " in str(failure) and "\\n" not in str(failure)


def test_rows_after_a_failed_read_are_all_there(tmp_path, monkeypatch):
    path = tmp_path / "t.parquet"
    pq.write_table(pa.table({"id": range(600)}), path)
    parts = [joined(group) for group in batches(divided(stored(path)).slices(stored(path)), 256)]
    whole = parquet_rows.parquet_batches

    def failing(*arguments):
        batches = whole(*arguments)
        yield next(batches)
        raise OSError("connection reset")

    monkeypatch.setattr(parquet_rows, "parquet_batches", failing)
    assert [row.content["id"] for row in rows_of(*parts[0])] == list(range(256))
    with pytest.raises(OSError, match="connection reset"):
        list(rows_of(*parts[1]))
    monkeypatch.setattr(parquet_rows, "parquet_batches", whole)
    assert [row.content["id"] for part in parts for row in rows_of(*part)] == list(range(600))


def test_a_file_with_fewer_rows_than_its_slice_is_an_error(tmp_path):
    path = tmp_path / "t.parquet"
    pq.write_table(pa.table({"id": range(5)}), path)
    with pytest.raises(InputError, match=r"t\.parquet: expected 7 rows from row 1 on, got 5"):
        list(rows_of(RowSlice(stored(path), 0, 7)))


def test_only_the_columns_that_are_needed_are_read(tmp_path):
    path = tmp_path / "news.parquet"
    rows = [{"id": f"n{row}", "page": "<p>" * 40, "article": "Rain fell.", "summary": "Rain."} for row in range(3)]
    pq.write_table(pa.Table.from_pylist(rows), path)
    for tables, wanted in (
        (PairSource(str(path)).pairs().tables(), {"id", "article", "summary"}),
        (PairSource(str(path), "page", "summary").pairs().tables(), {"id", "page", "summary"}),
        (InputSource([str(path)]).tables(), {"id", "article"}),
    ):
        # The thread keeps the file open from one read to the next.
        found = list(RowSlice(stored(path), 0, 3).rows(path, LARGEST, columns=tables.columns))
        assert [row.content for row in found] == [{name: row[name] for name in wanted} for row in rows]


def test_parsed_documents_keep_all_their_columns_but_vectors(tmp_path):
    path = tmp_path / "parsed.parquet"
    row = {"id": "a", "text": "Rain.", "sentences": [], "edus": [], "nodes": [], "parser": "x", "summary": "Rain."}
    pq.write_table(pa.Table.from_pylist([row | {"sentence_vectors": b"", "edu_vectors": b""}]), path)
    for tables in (PairSource(str(path)).pairs().tables(), InputSource([str(path)]).tables()):
        assert tables.columns([*row, "sentence_vectors", "edu_vectors"]) == [*row]
    assert InputSource([str(path)], text_column="summary").tables().columns(row) == ["id", "summary"]


def test_a_source_lists_its_tables_once(tmp_path):
    (tmp_path / "a.jsonl").write_text('{"text": "Rain.", "summary": "Rain."}\n')
    source = PairSource(str(tmp_path))
    source.identity()
    (tmp_path / "b.jsonl").write_text('{"text": "Wind.", "summary": "Wind."}\n')
    assert len(list(source.pairs())) == 1
    assert len(list(PairSource(str(tmp_path)).pairs())) == 2
