"""Rows of tables by where they are, so that whoever parses them reads them."""

from __future__ import annotations

import threading
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate, groupby
from pathlib import Path
from typing import Any, Generic, TypeVar

from discsum.data.remote import RemotePath
from discsum.data.storage import Location, Stored, stored
from discsum.data.tables import (
    CONVERT,
    Failure,
    bounded,
    decoded,
    is_blank,
    json_row,
    kind_of,
    parquet_batches,
    parquet_file,
)
from discsum.errors import InputError

# Tables of which workers read their own rows.
DIVIDED = (".jsonl", ".parquet")
# Their encoding, and that of all tables of texts with summaries.
ENCODING = "utf-8"

Entry = TypeVar("Entry")


@dataclass(frozen=True)
class Row:
    """A row of a table.

    Attributes:
        source: File and line, or file and byte, for errors.
        label: Its number in the file, from 1, or `at-BYTE`, for the id of a document without one.
        content: The row, or why it is none.
    """

    source: str
    label: str
    content: dict[str, Any] | Failure


@dataclass(frozen=True)
class LineSlice:
    """The lines of a file of JSON lines that begin in a range of bytes.

    Attributes:
        line: Number of the first line, from 1, which begins at `begin`; 0 if it is not known.
        row: Number of its row, from 1: blank lines are none.
    """

    file: Stored
    begin: int
    end: int
    line: int = 0
    row: int = 0

    def rows(self, base: Path, largest: int, remedy: str = CONVERT) -> Iterator[Row]:
        """Yield the rows.

        Args:
            base: Folder that the path is relative to.
            largest: Bytes of a line; a longer one is a `Failure`.
            remedy: What failures to decode a line tell the user to do.

        Raises:
            InputError: No such file, or another than that of which the slice was made.
        """
        name, number = str(self.file.path), self.row
        with _opened(self.file, base).path.open("rb") as file:
            file.seek(self.begin)
            if self.begin and not self.line:
                # Past the end of a line that begins before.
                file.seek(self.begin - 1)
                while (rest := file.readline(largest + 1)) and not rest.endswith(b"\n"):
                    continue
            lines = decoded(file, name, ENCODING, largest, file.tell(), remedy)
            for line, (begin, content) in enumerate(lines, start=self.line):
                if begin >= self.end:
                    return
                source = f"{name}:{line}" if self.line else f"{name} at byte {begin}"
                row = json_row(content, source)
                if row is not None:
                    yield Row(source, str(number) if self.line else f"at-{begin}", row)
                    number += 1


@dataclass(frozen=True)
class RowSlice:
    """The rows `first` (from 0) to `last` (exclusive) of a Parquet file."""

    file: Stored
    first: int
    last: int

    def rows(self, base: Path, largest: int, remedy: str = CONVERT) -> Iterator[Row]:
        """Yield the rows; arguments and errors as of `LineSlice.rows`."""
        name = str(self.file.path)
        contents = _cursor(_opened(self.file, base)).rows(self.first, self.last)
        for number, content in enumerate(contents, start=self.first + 1):
            yield Row(f"{name}:{number}", str(number), content)


Slice = LineSlice | RowSlice


@dataclass(frozen=True)
class DividedTables(Generic[Entry]):
    """Documents that are rows of tables, of which workers read their own.

    Attributes:
        files: The tables; see `can_divide`.
        entry: Returns the document of a row of a table, or why it is none; picklable.
        largest: Bytes of a line; a longer one is a `Failure`.
        remedy: What failures to decode a line tell the user to do.
        first: First row, from 0, over all files.
        last: Row after the last one; none for all.
        base: Folder that the paths of tables are relative to, for workers elsewhere.
    """

    files: Sequence[Stored]
    entry: Callable[[Location, Row], Entry | Failure]
    largest: int
    remedy: str = CONVERT
    first: int = 0
    last: int | None = None
    base: Path = field(default_factory=Path.cwd)


@dataclass(frozen=True)
class SlicedDocuments(Generic[Entry]):
    """Documents that are read from their tables when they are iterated over, as by a worker.

    Attributes:
        tables: The tables, without their list of files, which are many.
        slices: Where the rows are.
    """

    tables: DividedTables[Entry]
    slices: tuple[Slice, ...]

    def __iter__(self) -> Iterator[Entry | Failure]:
        """Yield the documents.

        Raises:
            InputError: A table that is not there, or another than that of the slices.
        """
        for part in self.slices:
            for row in part.rows(self.tables.base, self.tables.largest, self.tables.remedy):
                yield self.tables.entry(part.file.path, row)


def can_divide(paths: Iterable[Location]) -> bool:
    """Return whether all files are tables of which workers can read their own rows."""
    return all(kind_of(path) in DIVIDED for path in paths)


def row_slices(file: Stored, largest: int) -> Iterator[Slice]:
    """Yield a slice for each row of a table; of Parquet the end of the file is read, of JSON lines all of it."""
    if kind_of(file.path) == ".parquet":
        with parquet_file(file.path) as table:
            count = table.metadata.num_rows
        yield from (RowSlice(file, row, row + 1) for row in range(count))
        return
    row = 1
    with file.path.open("rb") as content:
        for number, (begin, line) in enumerate(bounded(content, largest), start=1):
            if len(line) > largest or not is_blank(line, ENCODING, begin):
                yield LineSlice(file, begin, begin + 1, number, row)
                row += 1


def byte_slices(file: Stored, size: int) -> Iterator[Slice]:
    """Yield slices of so many bytes of a table; of Parquet the end of the file is read, of JSON lines nothing.

    Of JSON lines a slice has the lines that begin in its bytes, and may have none; of Parquet it has row groups, one
    at least.
    """
    if kind_of(file.path) == ".parquet":
        with parquet_file(file.path) as table:
            groups = [table.metadata.row_group(number) for number in range(table.metadata.num_row_groups)]
            sizes = [
                sum(group.column(number).total_compressed_size for number in range(group.num_columns))
                for group in groups
            ]
            counts = [group.num_rows for group in groups]
        first = last = held = 0
        for count, length in zip(counts, sizes, strict=True):
            if held and held + length > size:
                yield RowSlice(file, first, last)
                first, held = last, 0
            last, held = last + count, held + length
        if last > first:
            yield RowSlice(file, first, last)
        return
    for begin in range(0, file.size, size):
        yield LineSlice(file, begin, min(begin + size, file.size))


def joined(slices: Sequence[Slice]) -> tuple[Slice, ...]:
    """Return slices of rows in order as one for each file."""
    found: list[Slice] = []
    for _, run in groupby(slices, key=lambda part: part.file):
        first, *others = run
        last = others[-1] if others else first
        if isinstance(first, LineSlice) and isinstance(last, LineSlice):
            found.append(replace(first, end=last.end))
        elif isinstance(first, RowSlice) and isinstance(last, RowSlice):
            found.append(replace(first, last=last.last))
    return tuple(found)


class _Cursor:
    """A Parquet file that is read forwards: a slice after the last one begins where that ended."""

    def __init__(self, file: Stored) -> None:
        self.file = file
        self._table = parquet_file(file.path)
        metadata = self._table.metadata
        counts = [metadata.row_group(number).num_rows for number in range(metadata.num_row_groups)]
        # First row of each row group.
        self._begins = list(accumulate(counts, initial=0))[:-1]
        self._batches: Iterator[Any] = iter(())
        # The batch at hand, and the number of its first row.
        self._batch: Any = None
        self._at = 0

    def rows(self, first: int, last: int) -> Iterator[dict[str, Any]]:
        """Yield the rows `first` to `last`, exclusive."""
        group = max(0, bisect_right(self._begins, first) - 1)
        if self._batch is None or first < self._at or self._begins[group] > self._at + len(self._batch):
            self._at = self._begins[group]
            self._batches = parquet_batches(self._table, str(self.file.path), group)
            self._batch = next(self._batches, None)
        while self._batch is not None:
            begin, after = max(0, first - self._at), self._at + len(self._batch)
            if begin < len(self._batch):
                yield from self._batch.slice(begin, last - self._at - begin).to_pylist()
            if after >= last:
                return
            self._at, self._batch = after, next(self._batches, None)

    def close(self) -> None:
        """Close the file."""
        self._table.close(force=True)


# The cursor of a thread: a worker reads the slices of a file one after another.
_own = threading.local()


def _cursor(file: Stored) -> _Cursor:
    there: _Cursor | None = getattr(_own, "cursor", None)
    if there is None or there.file != file:
        if there is not None:
            there.close()
        _own.cursor = there = _Cursor(file)
    return there


def _opened(file: Stored, base: Path) -> Stored:
    """Return the file of a slice as it is found here.

    Raises:
        InputError: None, or another one.
    """
    try:
        found = stored(base / file.path if isinstance(file.path, Path) else file.path)
    except OSError as error:
        raise InputError(f"{file.path}: expected the table of the run, got {error.strerror or error}") from error
    # Copies of a file on several disks have times of their own.
    changed = isinstance(file.path, RemotePath) and found.version != file.version
    if found.size != file.size or changed:
        raise InputError(
            f"{file.path}: expected the table of {file.size:,} bytes that the run began with, got another of "
            f"{found.size:,}; start again with one that does not change"
        )
    return found
