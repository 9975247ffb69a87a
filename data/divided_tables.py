"""Tables that are divided among workers, so that each worker reads its own rows."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Generic, TypeVar

from discsum.data.encodings import CONVERT
from discsum.data.failures import Failure
from discsum.data.parquet_files import Columns, opened_parquet
from discsum.data.remote import RemotePath
from discsum.data.slices import ENCODING, LineSlice, Row, RowSlice, Slice, Unread
from discsum.data.storage import Location, Stored, stored
from discsum.data.tables import LINE_TABLES, is_blank
from discsum.data.text_lines import bounded
from discsum.errors import InputError, NoAnswerError, message_of

# Endings of files that can be divided, and how errors name them.
DIVIDED = (*LINE_TABLES, ".parquet")
DIVIDED_KINDS = f"{', '.join(LINE_TABLES)} or .parquet"
# Remedy for tables that cannot be divided by bytes.
DOCUMENTS_INSTEAD = "give a number of documents, such as --shard 256"

Entry = TypeVar("Entry")


@dataclass(frozen=True)
class DividedTables(Generic[Entry]):
    """Documents in rows of tables, which workers read themselves.

    Attributes:
        files: The tables; `undivided` finds those that are not allowed.
        entry: Returns the document of a table's row, or a `Failure`; picklable.
        largest: Maximum bytes of a line; a longer line is a `Failure`.
        remedy: Advice to the user if a line cannot be decoded.
        first: First row, from 0, counted over all files.
        last: End of the rows, exclusive; None for all rows.
        base: Folder that the tables' paths are relative to, for workers in other folders.
        columns: Returns the needed columns of a Parquet file, given all of its columns; raises `InputError` if they
            cannot hold documents.
        lenient: Whether a table that is damaged or lacks the columns becomes one `Failure`; otherwise it ends the run.
            A store that does not answer always ends it.
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

    def footer(self, file: Stored) -> Any:
        """Return the metadata of a Parquet file, or an `Unread` with the reason that it cannot be read.

        It is None for other tables.
        """
        try:
            if file.path.suffix.lower() != ".parquet":
                if self.lenient and isinstance(file.path, Path):
                    # Slices are cut without reading it, so each of them would fail.
                    file.path.open("rb").close()
                return None
            with opened_parquet(file.path) as table:
                if self.columns is not None:
                    try:
                        self.columns(table.schema_arrow.names)
                    except InputError as error:
                        # A failure already names its table as the source.
                        raise error if self.lenient else InputError(f"{file.path}: {error}") from error
                return table.metadata
        except (InputError, OSError) as error:
            if not self.lenient or isinstance(error, NoAnswerError):
                raise
            return Unread(file, message_of(error))

    def slices(self, file: Stored, size: int | None = None, footer: Any = None) -> Iterator[Slice]:
        """Yield slices of about `size` bytes of a table or, without it, one for each row.

        Of a Parquet file only the footer is read, unless it is given; slices of bytes have whole row groups, at least
        one each. A JSON lines file is read whole for slices of rows, and not at all for slices of bytes, which have
        the lines that begin in them, possibly none.
        """
        footer = footer or self.footer(file)
        if isinstance(footer, Unread):
            yield footer
        elif size is not None and footer is not None:
            yield from _row_groups(file, footer, size)
        elif size is not None:
            yield from (LineSlice(file, begin, min(begin + size, file.size)) for begin in range(0, file.size, size))
        elif footer is not None:
            yield from (RowSlice(file, row, row + 1) for row in range(footer.num_rows))
        else:
            yield from self._lines(file)

    def _lines(self, file: Stored) -> Iterator[Slice]:
        """Yield a slice for each row of a JSON lines file."""
        row = 1
        try:
            with file.path.open("rb") as content:
                for number, (begin, line) in enumerate(bounded(content, self.largest), start=1):
                    if len(line) > self.largest or not is_blank(line, ENCODING, begin):
                        yield LineSlice(file, begin, begin + 1, number, row)
                        row += 1
        except OSError as error:
            if not self.lenient:
                raise
            yield Unread(file, message_of(error))

    def found(self, file: Stored) -> Location:
        """Return the path of one of the tables on this machine.

        Raises:
            InputError: There is no such file, or it is not the one that the run began with.
        """
        path = self.base / file.path if isinstance(file.path, Path) else file.path
        try:
            found = stored(path)
        except OSError as error:
            raise InputError(f"{file.path}: expected the table of the run, got {error.strerror or error}") from error
        # Copies of a file on the disks of several machines have different times, so only their size is compared.
        changed = isinstance(path, RemotePath) and found.version != file.version
        if found.size != file.size or changed:
            raise InputError(
                f"{file.path}: expected the table of {file.size:,} bytes that the run began with, got another one of "
                f"{found.size:,} bytes; start again with a table that does not change"
            )
        return path


def _row_groups(file: Stored, footer: Any, size: int) -> Iterator[Slice]:
    """Yield slices of whole row groups of a Parquet file, of about `size` bytes."""
    first = last = held = 0
    for group in map(footer.row_group, range(footer.num_row_groups)):
        length = sum(group.column(number).total_compressed_size for number in range(group.num_columns))
        if held and held + length > size:
            yield RowSlice(file, first, last)
            first, held = last, 0
        last, held = last + group.num_rows, held + length
    if last > first:
        yield RowSlice(file, first, last)


@dataclass(frozen=True)
class SlicedDocuments(Generic[Entry]):
    """Documents that are read from their tables during iteration, which happens in a worker.

    Attributes:
        tables: The tables, without their list of files, which may be long.
        slices: The rows to read.
    """

    tables: DividedTables[Entry]
    slices: tuple[Slice, ...]

    def __iter__(self) -> Iterator[Entry | Failure]:
        """Yield the documents.

        Raises:
            InputError: A table is missing, or is not the one that was sliced.
        """
        tables = self.tables
        for part in self.slices:
            path = tables.found(part.file)
            try:
                for row in part.rows(path, tables.largest, tables.remedy, tables.columns):
                    yield tables.entry(part.file.path, row)
            except (InputError, OSError) as error:
                if not tables.lenient or isinstance(error, NoAnswerError):
                    raise
                yield Failure(str(part.file.path), message_of(error))


def undivided(files: Iterable[Stored]) -> str | None:
    """Return why the first file that cannot be divided among workers cannot be; None if all can."""
    other = next((file for file in files if file.path.suffix.lower() not in DIVIDED), None)
    if other is None:
        return None
    return f"{other.path}: expected a table that ends in {DIVIDED_KINDS} for shards sized in bytes"
