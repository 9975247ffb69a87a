"""Compressed tables: all kinds, encodings, and damaged files."""

import bz2
import gzip
import lzma
from random import Random

import pyarrow
import pytest

from discsum.data.compressed import PACKED
from discsum.data.inputs import read_inputs
from discsum.data.tables import read_rows
from discsum.errors import InputError


def zstandard(content):
    return pyarrow.Codec("zstd").compress(content, asbytes=True)


COMPRESS = {".gz": gzip.compress, ".bz2": bz2.compress, ".xz": lzma.compress, ".zst": zstandard}


@pytest.mark.parametrize("packed", PACKED)
def test_compressed_lines(tmp_path, packed):
    compress = COMPRESS[packed]
    path = tmp_path / f"news.jsonl{packed}"
    # Several blocks of each compression.
    noise = Random(1)
    rows = (f'{{"text": "text {number}", "other": "{noise.randbytes(200).hex()}"}}\n' for number in range(8_000))
    content = compress("".join(rows).encode())
    path.write_bytes(content + compress(b'{"text": "last"}\n'))
    found = list(read_inputs([str(path)]))
    assert (len(found), found[0].id, found[-1].text) == (8_001, "news-1", "last")
    # What was read before the damage is given.
    path.write_bytes(content[: len(content) // 2])
    *found, failure = read_inputs([str(path)])
    assert [item.text for item in found[:2]] == ["text 0", "text 1"]
    assert f"expected a complete {packed} file, got a truncated or damaged one" in failure.reason
    path.write_bytes(b"no such file" * 9)
    (failure,) = read_inputs([str(path)])
    assert "got a truncated or damaged one" in failure.reason


@pytest.mark.parametrize("packed", PACKED)
@pytest.mark.parametrize("kind", [".csv", ".tsv", ".ndjson"])
def test_compressed_tables(tmp_path, kind, packed):
    content = {
        ".csv": b'id,text\na,"Rain, and\nwind"\n',
        ".tsv": b'id\ttext\na\t"Rain, and\nwind"\n',
        ".ndjson": b'{"id": "a", "text": "Rain, and\\nwind"}\n',
    }[kind]
    path = tmp_path / f"news{kind}{packed}"
    path.write_bytes(COMPRESS[packed](content))
    (item,) = read_inputs([str(tmp_path)])
    assert (item.id, item.text) == ("a", "Rain, and\nwind")
    path.write_bytes(COMPRESS[packed](content)[:-5])
    *_, failure = read_inputs([str(path)])
    assert f"expected a complete {packed} file, got a truncated or damaged one" in str(failure)


def test_encodings_of_compressed_tables(tmp_path):
    path = tmp_path / "news.csv.gz"
    path.write_bytes(gzip.compress("text\nÜber\n".encode("utf-16")))
    assert [item.text for item in read_inputs([str(path)], "utf-16")] == ["Über"]
    path.write_bytes(gzip.compress("text\nÜber\n".encode("latin-1")))
    (failure,) = read_inputs([str(path)])
    assert "news.csv.gz:2: expected utf-8, got byte 0xdc at offset 5" in str(failure)


def test_a_table_whose_name_is_its_ending(tmp_path):
    for name, content in ((".csv.gz", gzip.compress(b"text\nRain\n")), (".csv", b"text\nRain\n")):
        (tmp_path / name).write_bytes(content)
        assert [row for _, row in read_rows(tmp_path / name, "utf-8")] == [{"text": "Rain"}]


def test_compressed_parquet_is_no_table(tmp_path):
    path = tmp_path / "news.parquet.gz"
    path.write_bytes(gzip.compress(b"PAR1"))
    (failure,) = read_inputs([str(path)])
    assert "got a gzip file" in failure.reason
    with pytest.raises(InputError, match=r"expected a table that ends in \.jsonl, .*\.gz.*, or \.parquet"):
        list(read_rows(path, "utf-8"))
