"""Read rows of a Parquet file by number, for readers that go forwards through it, slice after slice."""

from __future__ import annotations

import threading
from bisect import bisect_right
from collections.abc import Iterator
from itertools import accumulate
from typing import Any

from discsum.data.failures import Failure
from discsum.data.parquet_files import Columns, parquet_batches, parquet_file, rows_in
from discsum.data.storage import Location, Stored
from discsum.errors import InputError

# One open file per thread: a worker reads the slices of a file one after another.
_own = threading.local()


def rows_of(
    file: Stored, path: Location, first: int, last: int, columns: Columns | None = None
) -> Iterator[dict[str, Any] | Failure]:
    """Yield the rows `first` (from 0) to `last` (exclusive) of a file.

    The file stays open in this thread until another one is read, so that the following rows need no search.

    Args:
        file: The file as the run lists it.
        path: Path of the file on this machine.
        first: Number of the first row.
        last: Number of the row after the last one.
        columns: Returns which of the file's columns to read; all by default.

    Raises:
        InputError: Rows that are damaged or missing; and the errors of `columns`.
    """
    there: _Reader | None = getattr(_own, "reader", None)
    if there is None or not there.is_for(file, path, columns):
        _close()
        _own.reader = there = _Reader(file, path, columns)
    try:
        yield from there.rows(first, last)
    except BaseException:
        # The position in the file is undefined now.
        _close()
        raise


def _close() -> None:
    there: _Reader | None = getattr(_own, "reader", None)
    if there is not None:
        _own.reader = None
        there.close()


class _Reader:
    """Reads a Parquet file forwards: a slice that follows the previous one continues where that ended."""

    def __init__(self, file: Stored, path: Location, columns: Columns | None) -> None:
        self.file, self.path = file, path
        self._table = parquet_file(path)
        self._columns = self._chosen(columns)
        metadata = self._table.metadata
        counts = [metadata.row_group(number).num_rows for number in range(metadata.num_row_groups)]
        # First row of each row group.
        self._begins = list(accumulate(counts, initial=0))[:-1]
        self._batches: Iterator[Any] = iter(())
        # The current batch, and the number of its first row.
        self._batch: Any = None
        self._at = 0

    def is_for(self, file: Stored, path: Location, columns: Columns | None) -> bool:
        """Return whether this reader reads these columns of that file."""
        return (self.file, self.path) == (file, path) and self._columns == self._chosen(columns)

    def _chosen(self, columns: Columns | None) -> list[str]:
        names = self._table.schema_arrow.names
        return [*names] if columns is None else [*columns(names)]

    def rows(self, first: int, last: int) -> Iterator[dict[str, Any] | Failure]:
        """Yield the rows `first` to `last`, exclusive.

        Raises:
            InputError: They are damaged or missing.
        """
        count, left = last - first, last - first
        group = max(0, bisect_right(self._begins, first) - 1)
        if self._batch is None or first < self._at or self._begins[group] > self._at + len(self._batch):
            self._at = self._begins[group]
            self._batches = parquet_batches(self._table, str(self.file.path), group, self._columns)
            self._batch = next(self._batches, None)
        while self._batch is not None:
            begin, after = max(0, first - self._at), self._at + len(self._batch)
            if begin < len(self._batch):
                rows = rows_in(self._batch.slice(begin, last - self._at - begin))
                left -= len(rows)
                yield from rows
            if after >= last:
                break
            self._at, self._batch = after, next(self._batches, None)
        if left:
            raise InputError(f"{self.file.path}: expected {count} rows from row {first + 1} on, got {count - left}")

    def close(self) -> None:
        """Close the file."""
        self._table.close(force=True)
