"""Parquet files as batches of rows."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from discsum.data.failures import Failure
from discsum.data.storage import Location
from discsum.errors import InputError
from discsum.extras import needs

# Errors of values that Python cannot hold; KeyError is that of an unknown time zone.
UNREADABLE = (ValueError, OverflowError, KeyError)

# Returns the names of the columns that are needed, given the names of all columns of a table.
Columns = Callable[[Iterable[str]], Sequence[str]]
# Rows of a Parquet file held in memory, and bytes of each of its columns read at once.
BATCH, PAGES = 256, 1 << 20


def parquet_file(path: Location) -> Any:
    """Return an open `pyarrow.parquet.ParquetFile`, of which only the footer has been read.

    Raises:
        InputError: Not a Parquet file.
        MissingExtraError: The library is not installed.
    """
    with needs("pyarrow"):
        from pyarrow import ArrowException
        from pyarrow.parquet import ParquetFile
    try:
        return ParquetFile(_source(path), buffer_size=PAGES, pre_buffer=False)
    except (ArrowException, OSError) as error:
        # A damaged footer raises either kind; only errors of the operating system have a number.
        if getattr(error, "errno", None):
            raise
        raise InputError(f"{path}: expected a Parquet file: {_line(error)}") from error


@contextmanager
def opened_parquet(path: Location) -> Iterator[Any]:
    """Yield what `parquet_file` returns, and close it after the block."""
    table = parquet_file(path)
    try:
        yield table
    finally:
        # By default, pyarrow leaves a file open that it was given open.
        table.close(force=True)


def _source(path: Location) -> Any:
    """Return what pyarrow opens: the path itself, or an open file if pyarrow would not find it by its path."""
    if isinstance(path, Path) and not any("\udc80" <= letter <= "\udcff" for letter in str(path)):
        # A relative path may begin with `~`, which pyarrow takes for the home folder.
        return path.absolute()
    return path.open("rb")


def parquet_batches(table: Any, name: str, group: int = 0, columns: Sequence[str] | None = None) -> Iterator[Any]:
    """Yield the rows of a Parquet file as `pyarrow.RecordBatch`es, starting with row group `group`.

    Args:
        table: The file, from `parquet_file`.
        name: Its name, for errors.
        group: Number of the first row group, from 0.
        columns: Names of the columns to read; all by default.

    Raises:
        InputError: A damaged file.
    """
    from pyarrow import ArrowException

    # One row group at a time: batches begin at the same rows for every `group`, and damage stays in its row group.
    batches = (
        batch
        for number in range(group, table.metadata.num_row_groups)
        for batch in table.iter_batches(BATCH, [number], columns, use_threads=False)
    )
    while True:
        try:
            batch = next(batches, None)
        except (ArrowException, OSError) as error:
            # Damaged pages raise either kind.
            raise InputError(f"{name}: expected a Parquet file whose rows can be read: {_line(error)}") from error
        if batch is None:
            return
        yield batch


def rows_in(batch: Any) -> list[dict[str, Any] | Failure]:
    """Return the rows of a `pyarrow.RecordBatch`; one with a value that Python cannot hold is a `Failure`.

    For example bytes that are not UTF-8 in a text column, or times after the year 9999 or in an unknown time zone.
    """
    try:
        return batch.to_pylist()  # type: ignore[no-any-return]
    except UNREADABLE:
        return [_row_in(batch.slice(number, 1)) for number in range(len(batch))]


def _row_in(batch: Any) -> dict[str, Any] | Failure:
    row = {}
    for name, column in zip(batch.schema.names, batch.columns, strict=True):
        try:
            (row[name],) = column.to_pylist()
        except UNREADABLE as error:
            return Failure(name, f"expected a readable {column.type} value in column {name}: {_line(error)}")
    return row


def _line(error: Exception) -> str:
    """Return an error's message on one line."""
    return " ".join(str(error).split())
