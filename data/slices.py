"""Ranges of the rows of a table, which are read where they are needed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from discsum.data.encodings import CONVERT
from discsum.data.failures import Failure
from discsum.data.parquet_files import Columns
from discsum.data.parquet_rows import rows_of
from discsum.data.storage import Location, Stored
from discsum.data.tables import decoded, json_row
from discsum.errors import InputError

# Encoding of tables that are divided, and of all tables of texts with summaries.
ENCODING = "utf-8"


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

    def rows(
        self, path: Location, largest: int, remedy: str = CONVERT, columns: Columns | None = None
    ) -> Iterator[Row]:
        """Yield the rows.

        Args:
            path: Where the file is found here.
            largest: Bytes of a line; a longer one is a `Failure`.
            remedy: What failures to decode a line tell the user to do.
            columns: Returns the columns that are needed, which alone are read of Parquet.
        """
        name, number = str(self.file.path), self.row
        with path.open("rb") as file:
            file.seek(self.begin)
            if self.begin and not self.line:
                # Past the end of a line that begins before, which may be in another slice, or behind many.
                file.seek(self.begin - 1)
                while (left := self.end - file.tell()) > 0:
                    rest = file.readline(left)
                    if not rest or rest.endswith(b"\n"):
                        break
                else:
                    return
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

    def rows(
        self, path: Location, largest: int, remedy: str = CONVERT, columns: Columns | None = None
    ) -> Iterator[Row]:
        """Yield the rows; arguments as of `LineSlice.rows`.

        Raises:
            InputError: Rows that are damaged; those before them were yielded.
        """
        name, number = str(self.file.path), self.first
        try:
            for content in rows_of(self.file, path, self.first, self.last, columns):
                number += 1
                source = f"{name}:{number}"
                row = replace(content, source=source) if isinstance(content, Failure) else content
                yield Row(source, str(number), row)
        except InputError as error:
            raise InputError(f"{error}; rows {number + 1} to {self.last} cannot be read") from error


@dataclass(frozen=True)
class Unread:
    """A table that cannot be read, and why."""

    file: Stored
    reason: str

    def rows(
        self, path: Location, largest: int, remedy: str = CONVERT, columns: Columns | None = None
    ) -> Iterator[Row]:
        """Yield one failure; arguments as of `LineSlice.rows`."""
        name = str(self.file.path)
        yield Row(name, "1", Failure(name, self.reason))


Slice = LineSlice | RowSlice | Unread


def joined(slices: Iterable[Slice]) -> tuple[Slice, ...]:
    """Return slices of rows in order with those that follow each other in a file as one."""
    runs: list[tuple[Slice, Slice]] = []
    for part in slices:
        if runs and _follows(part, runs[-1][1]):
            runs[-1] = runs[-1][0], part
        else:
            runs.append((part, part))
    return tuple(_whole(first, last) for first, last in runs)


def _follows(part: Slice, last: Slice) -> bool:
    """Return whether a slice follows another one in its file, which may be read more than once."""
    if part.file is not last.file and part.file != last.file:
        return False
    if isinstance(part, RowSlice) and isinstance(last, RowSlice):
        return part.first == last.last
    return isinstance(part, LineSlice) and isinstance(last, LineSlice) and part.begin >= last.end


def _whole(first: Slice, last: Slice) -> Slice:
    """Return the slice from the first to the last of those that follow each other."""
    if isinstance(first, LineSlice) and isinstance(last, LineSlice):
        return replace(first, end=last.end)
    if isinstance(first, RowSlice) and isinstance(last, RowSlice):
        return replace(first, last=last.last)
    return first
