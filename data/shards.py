"""The shards of a dataset folder: Parquet files of parsed, labelled and optionally encoded documents."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discsum.batches import map_ahead
from discsum.data.columns import DOCUMENT
from discsum.data.failures import Failure
from discsum.data.manifest import Manifest, digest_of, remedy_of
from discsum.data.pairs import Pair
from discsum.data.records import Origin, ShardRecord, commit
from discsum.data.storage import READERS, Location
from discsum.document import Document
from discsum.errors import InputError, NoAnswerError
from discsum.extras import needs

with needs("pyarrow"):
    import pyarrow as pa
    import pyarrow.parquet as pq


@dataclass(frozen=True)
class Record:
    """One document of a dataset.

    Attributes:
        references: The reference summaries, one sentence per line.
        labels: By kind of unit, `(units,)`: 1 for units that the oracle chose; empty without an oracle.
        vectors: By kind of unit, `(units, width)` float16; empty if units were not encoded.
        given_tree: Whether the document came with its own tree.
    """

    document: Document
    references: tuple[str, ...]
    labels: dict[str, NDArray[np.int8]]
    vectors: dict[str, NDArray[np.float16]] = field(default_factory=dict)
    given_tree: bool = False


@dataclass(frozen=True)
class Contents:
    """Summary of a shard: numbers of documents and failures, width of vectors (0 without any), digest of the recipe."""

    documents: int
    failed: int
    width: int
    recipe: str


def schema(units: Sequence[str], encoded: bool, labelled: bool = True) -> pa.Schema:
    """Return the columns of a shard: the document's JSON fields, references, and optional unit labels and vectors."""
    columns: list[tuple[str, pa.DataType]] = [*DOCUMENT, ("references", pa.list_(pa.string()))]
    if labelled:
        columns += [(f"{unit}_labels", pa.list_(pa.int8())) for unit in units]
    if encoded:
        # Row-major float16; the width is in the manifest.
        columns += [(f"{unit}_vectors", pa.binary()) for unit in units]
    return pa.schema(columns)


def unwritable(pair: Pair) -> Failure | None:
    """Return a failure if a pair is not valid Unicode, which Parquet requires."""
    parts = {"the id": pair.id, "the text": pair.text, "a reference": "\n".join(pair.references)}
    if pair.document is not None:
        parts["the tree"] = json.dumps(pair.document.to_json(), ensure_ascii=False)
    for name, part in parts.items():
        try:
            part.encode()
        except UnicodeEncodeError as error:
            half = f"U+{ord(part[error.start]):04X}"
            reason = f"expected {name} to be Unicode text, got the lone surrogate {half} at offset {error.start}"
            return Failure(pair.source or pair.id, reason)
    return None


def write_shard(
    path: Location, records: Sequence[Record], failures: Sequence[Failure], columns: pa.Schema, origin: Origin
) -> ShardRecord:
    """Write a shard with failures, width of vectors and digest of the recipe as metadata; return its written record."""
    table = pa.Table.from_pylist([_row(record) for record in records], schema=columns)
    width = max((vectors.shape[1] for record in records for vectors in record.vectors.values()), default=0)
    failed = json.dumps([asdict(failure) for failure in failures])
    content = pa.BufferOutputStream()
    metadata = {"failures": failed, "width": str(width), "recipe": origin.recipe}
    pq.write_table(table.replace_schema_metadata(metadata), content, compression="zstd")
    given_trees = sum(record.given_tree for record in records)
    whole = content.getvalue().to_pybytes()
    record = commit(path, whole, len(records), failures, origin, width=width, given_trees=given_trees)
    del table, content, whole
    # Arrow keeps freed memory for its next table, which a worker makes minutes later.
    pa.default_memory_pool().release_unused()
    return record


def read_contents(path: Location) -> Contents:
    """Return the summary of a shard.

    Raises:
        InputError: Not a shard.
        OSError: A file that cannot be opened.
    """
    try:
        with path.open("rb") as file:
            metadata = pq.read_metadata(file)
        own = metadata.metadata
        failed = len(json.loads(own[b"failures"]))
        return Contents(metadata.num_rows, failed, int(own[b"width"]), own[b"recipe"].decode())
    except NoAnswerError:
        raise
    except (pa.ArrowException, OSError, ValueError, KeyError, TypeError) as error:
        # Damage raises `OSError` too; only errors of the operating system have a number.
        if getattr(error, "errno", None):
            raise
        raise InputError(f"{path}: expected a shard, got {error}; {remedy_of({})}") from error


def check_shards(manifest: Manifest, folder: Location) -> None:
    """Check the content and the recipe of every shard of a finished folder against the manifest.

    Raises:
        InputError: A file that is not a shard, or a shard that differs from the manifest.
    """
    digest, remedy, width = digest_of(manifest.recipe), remedy_of(manifest.recipe), 0
    paths = [folder / shard.file for shard in manifest.shards]
    contents = map_ahead(read_contents, paths, READERS)
    for shard, path, found in zip(manifest.shards, paths, contents, strict=True):
        width = max(width, found.width)
        if found.recipe != digest:
            raise InputError(f"{path}: expected a shard of the manifest's recipe, got one of another recipe; {remedy}")
        if (found.documents, found.failed) != (shard.documents, shard.failed):
            raise InputError(
                f"{path}: expected {shard.documents} documents and {shard.failed} failures, as the manifest says, got "
                f"{found.documents} and {found.failed}; {remedy}"
            )
    if width != manifest.width:
        raise InputError(f"{folder}: expected vectors of width {manifest.width}, as the manifest says, got {width}")


def _row(record: Record) -> dict[str, Any]:
    row = record.document.to_json() | {"references": list(record.references)}
    row |= {f"{unit}_labels": labels.tolist() for unit, labels in record.labels.items()}
    return row | {f"{unit}_vectors": vectors.tobytes() for unit, vectors in record.vectors.items()}
