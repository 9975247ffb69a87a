"""Divide documents into shards: each shard is the input of one task."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import islice
from typing import Any, TypeVar
from warnings import catch_warnings, filterwarnings

from discsum.batches import batches, map_ahead
from discsum.data.divided_tables import DIVIDED_KINDS, DividedTables, SlicedDocuments
from discsum.data.failures import Failure
from discsum.data.shard_sizes import BYTES, DOCUMENTS
from discsum.data.slices import Slice, joined
from discsum.data.storage import READERS
from discsum.errors import InputError, InputWarning, warn_caller

Entry = TypeVar("Entry")


def shards_of(
    documents: Iterable[Entry | Failure], size: int, unit: str = DOCUMENTS, tables: DividedTables[Entry] | None = None
) -> Iterator[Iterable[Entry | Failure]]:
    """Yield the documents of each shard.

    With `tables`, a shard has slices of tables, and the worker that iterates over it reads them.

    Args:
        documents: The documents; only the first is read if there are tables.
        size: Number of documents of a shard, or bytes of the tables.
        unit: `documents` or `bytes`.
        tables: The same documents, in tables that can be divided.

    Raises:
        InputError: `unit` is `bytes`, but there are no `tables`, or only some of their rows are wanted. Also the errors
            of iterating over `documents`.
    """
    check_shard_unit(unit, tables)
    if tables is not None:
        # A table without the columns fails here. `_each` warns about tables without rows.
        with catch_warnings():
            filterwarnings("ignore", ".*: expected a table with documents", InputWarning)
            next(iter(documents), None)
        read = replace(tables, files=())
        for slices in _slices(tables, size, unit):
            rows: SlicedDocuments[Entry] = SlicedDocuments(read, slices)
            yield rows
    else:
        yield from batches(documents, size)


def check_shard_unit(unit: str, tables: DividedTables[Any] | None) -> None:
    """Raise the errors of `shards_of` about the unit of shards."""
    if unit == DOCUMENTS:
        return
    if tables is None:
        raise InputError(
            f"shard: expected only tables that end in {DIVIDED_KINDS} for shards sized in bytes, got others; "
            "give a number of documents"
        )
    if (tables.first, tables.last) != (0, None):
        raise InputError(
            f"shard: expected all rows of the tables for shards sized in bytes, got rows {tables.first} to "
            f"{tables.last or 'the end'}; give a number of documents"
        )


def _slices(tables: DividedTables[Entry], size: int, unit: str) -> Iterator[tuple[Slice, ...]]:
    """Yield the slices of each shard."""
    if unit == BYTES:
        yield from ((part,) for part in _each(tables, size))
        return
    # `islice` takes no larger numbers.
    first, last = min(tables.first, sys.maxsize), None if tables.last is None else min(tables.last, sys.maxsize)
    for group in batches(islice(_each(tables), first, last), size):
        yield joined(group)


def _each(tables: DividedTables[Entry], size: int | None = None) -> Iterator[Slice]:
    """Yield the slices of all tables, of `size` bytes or, without it, of one row; warn about tables without rows."""
    for file, footer in zip(tables.files, map_ahead(tables.footer, tables.files, READERS), strict=True):
        slices = tables.slices(file, size, footer)
        first = next(slices, None)
        if first is None:
            warn_caller(f"{file.path}: expected a table with documents, got none")
        else:
            yield first
            yield from slices
