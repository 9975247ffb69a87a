"""Tables of which workers read their own rows."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Generic, TypeVar

from discsum.data.encodings import CONVERT
from discsum.data.failures import Failure
from discsum.data.parquet_files import Columns, parquet_file
from discsum.data.remote import RemotePath
from discsum.data.slices import ENCODING, LineSlice, Row, RowSlice, Slice, Unread
from discsum.data.storage import Location, Stored, stored
from discsum.data.tables import bounded, is_blank, kind_of
from discsum.errors import InputError, message_of

# Their endings.
DIVIDED = (".jsonl", ".parquet")

Entry = TypeVar("Entry")


@dataclass(frozen=True)
class DividedTables(Generic[Entry]):
    """Documents that are rows of tables, of which workers read their own.

    Attributes:
        files: The tables; see `undivided`.
        entry: Returns the document of a row of a table, or why it is none; picklable.
        largest: Bytes of a line; a longer one is a `Failure`.
        remedy: What failures to decode a line tell the user to do.
        first: First row, from 0, over all files.
        last: Row after the last one; none for all.
        base: Folder that the paths of tables are relative to, for workers elsewhere.
        columns: Returns the columns of a Parquet file that are needed, of all it has; raises `InputError` for one that
            has no documents.
        lenient: Whether a table that is damaged, or has not the columns, is one failure; otherwise it ends the run.
    """

    files: Sequence[Stored]
    entry: Callable[[Location, Row], Entry | Failure]
    largest: int
    remedy: str = CONVERT
    first: int = 0
    last: int | None = None
    base: Path = field(default_factory=Path.cwd)
    columns: Columns | None = None
    lenient: bool = False

    def row_slices(self, file: Stored) -> Iterator[Slice]:
        """Yield a slice for each row of a table; of Parquet the end of the file is read, of JSON lines all of it."""
        if kind_of(file.path) == ".parquet":
            footer = self._footer(file)
            if isinstance(footer, Unread):
                yield footer
            else:
                yield from (RowSlice(file, row, row + 1) for row in range(footer.num_rows))
            return
        row = 1
        with file.path.open("rb") as content:
            for number, (begin, line) in enumerate(bounded(content, self.largest), start=1):
                if len(line) > self.largest or not is_blank(line, ENCODING, begin):
                    yield LineSlice(file, begin, begin + 1, number, row)
                    row += 1

    def byte_slices(self, file: Stored, size: int) -> Iterator[Slice]:
        """Yield slices of so many bytes of a table; of Parquet the end of the file is read, of JSON lines nothing.

        Of JSON lines a slice has the lines that begin in its bytes, and may have none; of Parquet it has row groups, at
        least one.
        """
        if kind_of(file.path) == ".parquet":
            footer = self._footer(file)
            if isinstance(footer, Unread):
                yield footer
                return
            groups = [footer.row_group(number) for number in range(footer.num_row_groups)]
            first = last = held = 0
            for group in groups:
                length = sum(group.column(number).total_compressed_size for number in range(group.num_columns))
                if held and held + length > size:
                    yield RowSlice(file, first, last)
                    first, held = last, 0
                last, held = last + group.num_rows, held + length
            if last > first:
                yield RowSlice(file, first, last)
            return
        for begin in range(0, file.size, size):
            yield LineSlice(file, begin, min(begin + size, file.size))

    def _footer(self, file: Stored) -> Any:
        """Return the metadata of a Parquet file, or why it is not read."""
        try:
            with parquet_file(file.path) as table:
                if self.columns is not None:
                    try:
                        self.columns(table.schema_arrow.names)
                    except InputError as error:
                        # A failure names its table itself.
                        raise error if self.lenient else InputError(f"{file.path}: {error}") from error
                return table.metadata
        except (InputError, OSError) as error:
            if not self.lenient or isinstance(file.path, RemotePath):
                raise
            return Unread(file, message_of(error))

    def found(self, file: Stored) -> Location:
        """Return where a file of theirs is found here.

        Raises:
            InputError: It is not there, or another one.
        """
        path = self.base / file.path if isinstance(file.path, Path) else file.path
        try:
            found = stored(path)
        except OSError as error:
            raise InputError(f"{file.path}: expected the table of the run, got {error.strerror or error}") from error
        # Copies of a file on several disks have times of their own.
        changed = isinstance(path, RemotePath) and found.version != file.version
        if found.size != file.size or changed:
            raise InputError(
                f"{file.path}: expected the table of {file.size:,} bytes that the run began with, got another of "
                f"{found.size:,}; start again with one that does not change"
            )
        return path


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
        tables = self.tables
        for part in self.slices:
            path = tables.found(part.file)
            try:
                for row in part.rows(path, tables.largest, tables.remedy, tables.columns):
                    yield tables.entry(part.file.path, row)
            except InputError as error:
                # A store that does not answer says nothing of the table.
                if not tables.lenient or isinstance(path, RemotePath):
                    raise
                yield Failure(str(part.file.path), str(error))


def undivided(files: Iterable[Stored]) -> Stored | None:
    """Return the first file that is no table of which workers can read their own rows; none if all are."""
    return next((file for file in files if kind_of(file.path) not in DIVIDED), None)
