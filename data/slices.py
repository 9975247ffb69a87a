"""Ranges of the rows of a table, which workers read."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from discsum.data.encodings import CONVERT
from discsum.data.failures import Failure
from discsum.data.parquet_files import Columns
from discsum.data.parquet_rows import rows_of
from discsum.data.storage import Location, Stored
from discsum.data.tables import json_row
from discsum.data.text_lines import decoded
from discsum.errors import InputError
from discsum.files import PIECE

# Encoding of tables that are divided, and of all tables of texts with summaries.
ENCODING = "utf-8"


@dataclass(frozen=True)
class Row:
    """A row of a table.

    Attributes:
        source: File and line, or file and byte, for errors.
        label: Its number in the file, from 1, or `at-BYTE`; part of the id of a document that has none of its own.
        content: The row, or a `Failure`.
    """

    source: str
    label: str
    content: dict[str, Any] | Failure


@dataclass(frozen=True)
class LineSlice:
    """The lines of a file of JSON lines that begin in a range of bytes.

    Attributes:
        line: Number, from 1, of the first line, which begins at `begin`; 0 if unknown.
        row: Number of its row, from 1; blank lines do not count as rows.
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
            path: Path of the file on this machine.
            largest: Maximum bytes of a line; a longer line is a `Failure`.
            remedy: Advice to the user if a line cannot be decoded.
            columns: Returns the needed columns; only these are read from Parquet files.
        """
        name, number = str(self.file.path), self.row
        with path.open("rb") as file:
            file.seek(self.begin)
            if self.begin and not self.line:
                # Skips the rest of a line that begins before this slice, and that may end many slices later.
                file.seek(self.begin - 1)
                while (left := self.end - file.tell()) > 0:
                    rest = file.readline(min(left, PIECE))
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
        """Yield the rows. Takes the arguments of `LineSlice.rows`.

        Raises:
            InputError: Rows that are damaged; the rows before them have been yielded.
        """
        name, number = str(self.file.path), self.first
        try:
            for content in rows_of(self.file, path, self.first, self.last, columns):
                number += 1
                source = f"{name}:{number}"
                row = replace(content, source=source) if isinstance(content, Failure) else content
                yield Row(source, str(number), row)
        except InputError as error:
            raise type(error)(f"{error}; rows {number + 1} to {self.last} are not read") from error


@dataclass(frozen=True)
class Unread:
    """A table that cannot be read, and why."""

    file: Stored
    reason: str

    def rows(
        self, path: Location, largest: int, remedy: str = CONVERT, columns: Columns | None = None
    ) -> Iterator[Row]:
        """Yield one failure. Takes the arguments of `LineSlice.rows`."""
        name = str(self.file.path)
        yield Row(name, "1", Failure(name, self.reason))


Slice = LineSlice | RowSlice | Unread


def key_of(part: Slice) -> tuple[str | int, ...]:
    """Return what tells a slice from others of the same tables, and is the same on all machines."""
    bounds: tuple[int, ...] = ()
    if isinstance(part, LineSlice):
        bounds = part.begin, part.end
    elif isinstance(part, RowSlice):
        bounds = part.first, part.last
    return (part.file.path.name, part.file.size, *bounds)


def joined(slices: Iterable[Slice]) -> tuple[Slice, ...]:
    """Return slices in order, with slices that directly follow each other in a file merged into one."""
    runs: list[tuple[Slice, Slice]] = []
    for part in slices:
        if runs and _follows(part, runs[-1][1]):
            runs[-1] = runs[-1][0], part
        else:
            runs.append((part, part))
    return tuple(_whole(first, last) for first, last in runs)


def _follows(part: Slice, last: Slice) -> bool:
    """Return whether a slice comes after another one in the same file.

    A file may be listed more than once: its first slice does not follow its last.
    """
    if part.file is not last.file and part.file != last.file:
        return False
    if isinstance(part, RowSlice) and isinstance(last, RowSlice):
        return part.first == last.last
    return isinstance(part, LineSlice) and isinstance(last, LineSlice) and part.begin >= last.end


def _whole(first: Slice, last: Slice) -> Slice:
    """Return one slice from the first to the last of slices that follow each other."""
    if isinstance(first, LineSlice) and isinstance(last, LineSlice):
        return replace(first, end=last.end)
    if isinstance(first, RowSlice) and isinstance(last, RowSlice):
        return replace(first, last=last.last)
    return first
