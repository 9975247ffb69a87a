"""The documents of each shard, in order: what one task is made of."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import islice
from typing import TypeVar
from warnings import catch_warnings, simplefilter, warn

from discsum.batches import batches
from discsum.data.divided_tables import DIVIDED, DividedTables, SlicedDocuments
from discsum.data.failures import Failure
from discsum.data.shard_sizes import BYTES, DOCUMENTS
from discsum.data.slices import Slice, joined
from discsum.errors import InputError, InputWarning

Entry = TypeVar("Entry")


def shards_of(
    documents: Iterable[Entry | Failure], size: int, unit: str = DOCUMENTS, tables: DividedTables[Entry] | None = None
) -> Iterator[Iterable[Entry | Failure]]:
    """Yield the documents of each shard.

    With `tables` a shard is a slice of one, read by the worker that iterates over it.

    Args:
        documents: The documents, of which only the first is read if there are tables.
        size: Number of documents of a shard, or bytes of the tables.
        unit: `documents` or `bytes`.
        tables: The same documents in tables that can be divided.

    Raises:
        InputError: Documents that cannot be divided by bytes, or some rows of tables; or as of iterating over them.
    """
    if tables is not None:
        # A table without the columns fails before anything is written. Tables without rows are warned of below.
        with catch_warnings():
            simplefilter("ignore", InputWarning)
            next(iter(documents), None)
        read = replace(tables, files=())
        for slices in _slices(tables, size, unit):
            rows: SlicedDocuments[Entry] = SlicedDocuments(read, slices)
            yield rows
    elif unit == DOCUMENTS:
        yield from batches(documents, size)
    else:
        raise InputError(
            f"shard: expected only tables that end in {' or '.join(DIVIDED)} for shards of bytes, got others; give a "
            "number of documents"
        )


def _slices(tables: DividedTables[Entry], size: int, unit: str) -> Iterator[tuple[Slice, ...]]:
    """Yield where the rows of each shard are."""
    if unit == BYTES:
        if (tables.first, tables.last) != (0, None):
            raise InputError(
                f"shard: expected all rows of the tables for shards of bytes, got rows {tables.first} to "
                f"{tables.last or 'the end'}; give a number of documents"
            )
        yield from ((part,) for part in _each(tables, size))
        return
    for group in batches(islice(_each(tables), tables.first, tables.last), size):
        yield joined(group)


def _each(tables: DividedTables[Entry], size: int | None = None) -> Iterator[Slice]:
    """Yield the slices of all tables, of so many bytes or else of a row; warn of a table without any."""
    for file in tables.files:
        slices = tables.row_slices(file) if size is None else tables.byte_slices(file, size)
        first = next(slices, None)
        if first is None:
            warn(f"{file.path}: expected a table with documents, got none", InputWarning, stacklevel=2)
        else:
            yield first
            yield from slices
