"""The documents of each shard, in order: what one task is made of."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import chain, islice
from typing import TypeVar

from discsum.batches import batches
from discsum.data.shard_sizes import BYTES, DOCUMENTS
from discsum.data.slices import DIVIDED, DividedTables, Slice, SlicedDocuments, byte_slices, joined, row_slices
from discsum.data.tables import Failure
from discsum.errors import InputError

Entry = TypeVar("Entry")


def shards_of(
    documents: Iterable[Entry | Failure], size: int, unit: str = DOCUMENTS, tables: DividedTables[Entry] | None = None
) -> Iterator[Iterable[Entry | Failure]]:
    """Yield the documents of each shard.

    Of tables they are slices, which whoever iterates over them reads; otherwise the documents themselves.

    Args:
        documents: The documents, of which only the first is read if there are tables.
        size: Number of documents of a shard, or bytes of the tables.
        unit: `documents` or `bytes`.
        tables: The same documents in tables that can be divided.

    Raises:
        InputError: Documents that cannot be divided by bytes, or some rows of tables; or as of iterating over them.
    """
    if tables is not None:
        # A table without the columns fails before anything is written.
        next(iter(documents), None)
        read = replace(tables, files=())
        for slices in _slices(tables, size, unit):
            rows: SlicedDocuments[Entry] = SlicedDocuments(read, slices)
            yield rows
    elif unit == DOCUMENTS:
        yield from batches(documents, size)
    else:
        raise InputError(
            f"shard: expected tables alone that end in {' or '.join(DIVIDED)} for shards of so many bytes, got others; "
            "give a number of documents"
        )


def _slices(tables: DividedTables[Entry], size: int, unit: str) -> Iterator[tuple[Slice, ...]]:
    """Yield where the rows of each shard are."""
    if unit == BYTES:
        if (tables.first, tables.last) != (0, None):
            raise InputError(
                f"shard: expected all rows of the tables for shards of so many bytes, got rows {tables.first} to "
                f"{tables.last or 'the end'}; give a number of documents"
            )
        for file in tables.files:
            yield from ((part,) for part in byte_slices(file, size))
        return
    rows = chain.from_iterable(row_slices(file, tables.largest) for file in tables.files)
    for group in batches(islice(rows, tables.first, tables.last), size):
        yield joined(group)
