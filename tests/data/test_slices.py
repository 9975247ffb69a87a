"""Rows of tables by where they are: every way to divide a table gives its rows, each once and in order."""

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from discsum.batches import batches
from discsum.data.remote import RemotePath
from discsum.data.slices import byte_slices, joined, row_slices
from discsum.data.storage import stored, write_bytes
from discsum.data.tables import Failure, read_rows
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


def plain(content):
    """A row, or the reason why it is none without the place that it begins with."""
    return content.reason.rpartition(": ")[2] if isinstance(content, Failure) else content


@OFTEN
@given(content=CONTENT, size=st.integers(1, 90), count=st.integers(1, 5))
def test_lines_of_any_file(tmp_path, content, size, count):
    path = tmp_path / "t.jsonl"
    path.write_bytes(content)
    wanted = list(read_rows(path, "utf-8", largest=LARGEST))
    lines = content.split(b"\n")

    by_rows = [joined(group) for group in batches(row_slices(stored(path), LARGEST), count)]
    found = [[row for part in parts for row in part.rows(Path(), LARGEST)] for parts in by_rows]
    assert [(row.source, row.content) for rows in found for row in rows] == wanted
    assert [row.label for rows in found for row in rows] == [str(number) for number in range(1, len(wanted) + 1)]
    assert all(len(rows) == count for rows in found[:-1])

    by_bytes = list(byte_slices(stored(path), size))
    rows = [row for part in by_bytes for row in part.rows(Path(), LARGEST)]
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
    parts = [part for slices in batches(row_slices(file, LARGEST), size) for part in joined(slices)]
    # Workers take them in any order.
    order = data.draw(st.permutations(range(len(parts)))) if len(parts) < 8 else range(len(parts))
    found = {}
    for number in order:
        found[number] = [(row.source, row.label, row.content) for row in parts[number].rows(Path(), LARGEST)]
    assert [row for number in sorted(found) for row in found[number]] == [
        (f"{path}:{row + 1}", str(row + 1), {"id": row}) for row in range(rows)
    ]
    held = data.draw(st.integers(1, 4000))
    groups = list(byte_slices(file, held))
    assert [row.content["id"] for part in groups for row in part.rows(Path(), LARGEST)] == list(range(rows))
    # Row groups stay whole.
    assert {part.first % group for part in groups} <= {0}
    assert len(list(byte_slices(file, 1))) == -(-rows // group)
    assert len(list(byte_slices(file, 1 << 30))) == 1


def test_a_slice_that_is_left_in_the_middle_disturbs_no_other(tmp_path):
    path = tmp_path / "t.parquet"
    pq.write_table(pa.table({"id": range(1000)}), path, row_group_size=100)
    first, second = joined(list(row_slices(stored(path), LARGEST))[:600]) + joined(
        list(row_slices(stored(path), LARGEST))[600:]
    )
    reading = first.rows(Path(), LARGEST)
    assert [next(reading).content["id"] for _ in range(300)] == list(range(300))
    assert [row.content["id"] for row in second.rows(Path(), LARGEST)] == list(range(600, 1000))
    assert [row.content["id"] for row in first.rows(Path(), LARGEST)] == list(range(600))


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
    for parts in (joined(list(row_slices(file, LARGEST))), byte_slices(file, 700)):
        assert [row.content for part in parts for row in part.rows(Path(), LARGEST)] == rows


@pytest.mark.parametrize("name", ["t.jsonl", "t.parquet"])
def test_a_table_that_changed_or_went_is_refused(tmp_path, name):
    path = tmp_path / name
    pq.write_table(pa.table({"id": [1]}), path)
    (part,) = byte_slices(stored(path), 1 << 20)
    path.write_bytes(path.read_bytes() + b"x")
    with pytest.raises(
        InputError, match=r"expected the table of \d+ bytes that the run began with, got another of \d+;"
    ):
        list(part.rows(Path(), LARGEST))
    path.unlink()
    with pytest.raises(InputError, match=rf"{name}: expected the table of the run, got No such file"):
        list(part.rows(Path(), LARGEST))


def test_another_content_of_the_same_size_in_a_store_is_refused(place):
    path = place / "t.jsonl"
    write_bytes(path, b'{"a": "1"}\n')
    (part,) = byte_slices(stored(path), 1 << 20)
    write_bytes(path, b'{"a": "2"}\n')
    assert isinstance(path, RemotePath)
    with pytest.raises(InputError, match="got another of 11; start again with one that does not change"):
        list(part.rows(Path(), LARGEST))
