"""Parts: files with the JSON objects of commands with `--shards`, one per document."""

from __future__ import annotations

import gzip
import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from discsum.data.shard_names import JSON_LINES, PART
from discsum.errors import InputError
from discsum.files import to_line

if TYPE_CHECKING:
    import pyarrow as pa


def part_name(format: str) -> str:
    """Return the format string for the file name of a part, given its number."""
    return f"{PART}{{:05d}}.{format}"


def content_of(rows: Sequence[Mapping[str, Any]], format: str, command: str) -> bytes:
    """Return the content of a part. The same rows give the same bytes.

    Args:
        rows: The JSON objects.
        format: One of `FORMATS` of `shard_names`.
        command: The command; `parse` or `extract` for a Parquet file, which has the columns of its objects.
    """
    if format == JSON_LINES:
        # Without a timestamp, so that the same rows give the same bytes.
        return gzip.compress("".join(map(to_line, rows)).encode(), mtime=0)
    import pyarrow as pa
    from pyarrow import parquet as pq

    content = pa.BufferOutputStream()
    pq.write_table(pa.Table.from_pylist(list(rows), schema=_columns(command)), content, compression="zstd")
    return bytes(content.getvalue().to_pybytes())


def check_parquet(row: Mapping[str, Any], command: str) -> None:
    """Raise `InputError` for an object that a Parquet file cannot hold."""
    remedy = f"write {JSON_LINES} instead"
    beside = sorted(row.keys() - set(_columns(command).names))
    if beside:
        raise InputError(
            f"expected a document that fits the Parquet columns, got one with {' and '.join(beside)}; {remedy}"
        )
    try:
        json.dumps(row, ensure_ascii=False).encode()
    except UnicodeEncodeError as error:
        half = f"U+{ord(error.object[error.start]):04X}"
        raise InputError(f"expected Unicode text, got the lone surrogate {half}; {remedy}") from error


def _columns(command: str) -> pa.Schema:
    """Return the columns of a command's Parquet files: the fields of its JSON objects."""
    import pyarrow as pa

    from discsum.data.columns import DOCUMENT

    if command == "parse":
        return pa.schema(DOCUMENT)
    place = [(name, pa.int64()) for name in ("index", "start", "end")]
    selected = pa.struct([*place, ("score", pa.float64()), ("text", pa.string())])
    scores = pa.list_(pa.float64())
    return pa.schema(
        [
            *((name, pa.string()) for name in ("id", "summary")),
            ("lines", pa.list_(pa.string())),
            *((name, pa.string()) for name in ("unit", "model")),
            ("selected", pa.list_(selected)),
            ("scores", scores),
            ("query", pa.string()),
            ("model_scores", scores),
            ("query_scores", scores),
            ("warnings", pa.list_(pa.string())),
        ]
    )
