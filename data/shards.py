"""The shards of a dataset folder: Parquet files of parsed, labelled and maybe encoded documents."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discsum.data.tables import Failure
from discsum.document import Document
from discsum.errors import MissingExtraError
from discsum.files import replacing

try:
    import pyarrow as pa
    import pyarrow.parquet as pq
except ImportError as error:
    raise MissingExtraError("Datasets are Parquet files. Please run: pip install pyarrow datasets") from error

SPAN = pa.struct([("start", pa.int64()), ("end", pa.int64())])
EDU = pa.struct([("start", pa.int64()), ("end", pa.int64()), ("sentence", pa.int32())])
NODE = pa.struct(
    [
        ("first", pa.int32()),
        ("last", pa.int32()),
        ("split", pa.int32()),
        ("nuclearity", pa.string()),
        ("relation", pa.string()),
        ("probability", pa.float64()),
    ]
)


@dataclass(frozen=True)
class Record:
    """One document of a dataset.

    Attributes:
        document: The parsed document.
        references: Its reference summaries, one sentence a line.
        labels: By unit, `(units,)` 1 for the units of the oracle.
        vectors: By unit, `(units, width)` float16 vectors, where units were encoded.
    """

    document: Document
    references: tuple[str, ...]
    labels: dict[str, NDArray[np.int8]]
    vectors: dict[str, NDArray[np.float16]] = field(default_factory=dict)


def schema(units: Sequence[str], encoded: bool) -> pa.Schema:
    """Return the columns of a shard: the document's JSON fields, references, and labels and vectors by unit."""
    columns: list[tuple[str, pa.DataType]] = [
        ("id", pa.string()),
        ("text", pa.string()),
        ("parser", pa.string()),
        ("sentences", pa.list_(SPAN)),
        ("edus", pa.list_(EDU)),
        ("nodes", pa.list_(NODE)),
        ("references", pa.list_(pa.string())),
    ]
    columns += [(f"{unit}_labels", pa.list_(pa.int8())) for unit in units]
    if encoded:
        # Rows of float16 one after another; the width is in the manifest.
        columns += [(f"{unit}_vectors", pa.binary()) for unit in units]
    return pa.schema(columns)


@dataclass(frozen=True)
class Contents:
    """What a shard holds: how many documents, which failed, and the width of its vectors, 0 without any."""

    documents: int
    failures: list[Failure]
    width: int


def write_shard(path: Path, records: Sequence[Record], failures: Sequence[Failure], columns: pa.Schema) -> None:
    """Write a shard, whole or not at all; its metadata have the documents that failed, and the width of vectors."""
    table = pa.Table.from_pylist([_row(record) for record in records], schema=columns)
    width = max((vectors.shape[1] for record in records for vectors in record.vectors.values()), default=0)
    failed = json.dumps([asdict(failure) for failure in failures])
    with replacing(path) as partial:
        pq.write_table(
            table.replace_schema_metadata({"failures": failed, "width": str(width)}), partial, compression="zstd"
        )


def read_contents(path: Path) -> Contents:
    """Return what a shard holds."""
    metadata = pq.read_metadata(path)
    own = metadata.metadata
    failures = [Failure(**item) for item in json.loads(own[b"failures"])]
    return Contents(metadata.num_rows, failures, int(own[b"width"]))


def _row(record: Record) -> dict[str, Any]:
    row = record.document.to_json() | {"references": list(record.references)}
    row |= {f"{unit}_labels": labels.tolist() for unit, labels in record.labels.items()}
    return row | {f"{unit}_vectors": vectors.tobytes() for unit, vectors in record.vectors.items()}
