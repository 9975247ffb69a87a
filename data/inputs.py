"""Inputs of the commands: text files, folders, standard input, tables, and tree files."""

from __future__ import annotations

import sys
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from discsum.batches import map_ahead
from discsum.constants import AUTO, DECLARED, MAX_DOCUMENT_BYTES, READABLE_BYTES
from discsum.data.encodings import CONVERT, NAME_IT, canonical
from discsum.data.failures import RAISE, Failure, is_larger
from discsum.data.made_folder import NO_DOCUMENTS, documents_in, is_empty, list_endings
from discsum.data.markup import ENDINGS, markup_of, read_text, without_markup
from discsum.data.saved_datasets import refuse_saved
from discsum.data.storage import READERS, Location, Stored, is_pattern, location, stored
from discsum.data.tables import (
    SAME_COLUMNS,
    TABLES,
    count_rows,
    find_column,
    is_table,
    own_id,
    read_rows,
    row_id,
    stem_of,
    warn_of_other_columns,
)
from discsum.data.text_columns import document_columns, holds_document, text_columns
from discsum.errors import (
    DiscsumError,
    InputError,
    MissingExtraError,
    NoAnswerError,
    message_of,
    warn_caller,
)
from discsum.files import folded, read_at_most, read_up_to
from discsum.format_registry import suffixes
from discsum.json_objects import json_type

if TYPE_CHECKING:
    from discsum.document import Document


@dataclass(frozen=True)
class Item:
    """One input document.

    Attributes:
        id: Stem of the file, column `id` of the table, or number of the row.
        source: Origin for error messages: file, and line or row.
        document: The parsed document, if the input was a tree.
    """

    id: str
    source: str
    text: str
    document: Document | None = None


@dataclass(frozen=True)
class ReadOptions:
    """How files are read.

    `convert` and `rename` are advice to the user in errors about encoding and columns. The other attributes are
    arguments of `read_inputs`: `given` is its `encoding`, `largest` its `max_document_bytes`.
    """

    given: str
    text_column: str | None
    roots: str
    input: str
    largest: int
    convert: str = NAME_IT
    rename: str = "name one with --text-column"

    @classmethod
    def of(
        cls,
        encoding: str | None = None,
        text_column: str | None = None,
        roots: str = "join",
        input: str = AUTO,
        max_document_bytes: int = MAX_DOCUMENT_BYTES,
    ) -> ReadOptions:
        """Return the options for arguments of `read_inputs`."""
        given, largest = encoding or DECLARED, min(max_document_bytes, READABLE_BYTES)
        if encoding:
            return cls(given, text_column, roots, input, largest)
        return cls(given, text_column, roots, input, largest, CONVERT, "rename the one with the text")

    @property
    def encoding(self) -> str:
        """Encoding of tables."""
        # Byte order marks are left out in any case, and `utf-8-sig` encodes line ends with one.
        return "utf-8" if self.given == DECLARED or canonical(self.given) == "utf-8-sig" else self.given

    def needed_columns(self, names: Iterable[str]) -> list[str]:
        """Return the columns of a table that may hold the text, or a parsed document.

        Raises:
            InputError: None of them holds the text.
        """
        row = dict.fromkeys(names)
        choices = text_columns(row, self.text_column)
        find_column(row, choices, self.rename)
        return document_columns(row, choices, self.text_column)

    def text(self, content: bytes, source: str, suffix: str = "") -> str:
        """Return the text of a file that is not a table."""
        return read_text(content, markup_of(self.input, suffix), self.given, source, self.convert)


def read_inputs(
    inputs: Sequence[str],
    encoding: str | None = None,
    *,
    text_column: str | None = None,
    trees: bool = True,
    roots: str = "join",
    input: str = AUTO,
    max_document_bytes: int = MAX_DOCUMENT_BYTES,
) -> Iterator[Item | Failure]:
    """Yield the documents of all inputs in order; an unreadable one becomes a `Failure`.

    Args:
        inputs: Files, folders (their text, table and tree files, by name), patterns such as `news/*.parquet`, URLs of
            these that fsspec reaches (without tree files), or `-` for standard input.
        encoding: Encoding of all files. By default, or with `declared`, it is what an XML or HTML file declares or the
            byte order mark of a file that is not a table says, and otherwise UTF-8. If it is given, errors name
            `--encoding` and `--text-column` as remedies.
        text_column: Column of a table that holds the text; by default `article` or `text`.
        trees: Whether tree files count as input.
        roots: What to do with a tree that has several roots; see `discsum.formats.load`.
        input: Markup of the texts: `text`, `markdown`, `html`, or `auto` to go by the file's ending.
        max_document_bytes: Maximum size of a file, or of a line or field of a table. A larger one is a `Failure`, and
            no more than this is read.
    """
    options = ReadOptions.of(encoding, text_column, roots, input, max_document_bytes)
    endings = suffixes() if trees else {}
    for name in inputs:
        try:
            if not name:
                raise InputError("expected the name of a file or folder, got an empty one")
            if name == "-":
                if inputs.count(name) > 1:
                    raise InputError("expected standard input once, got it several times")
                source = "standard input"
                yield Item("stdin", source, options.text(_standard_input(options.largest), source))
                continue
            for file in files_of(name, endings, told=True):
                try:
                    yield from read_file(file.path, options, endings)
                except (MissingExtraError, NoAnswerError) as error:
                    yield Failure(str(file.path), str(error))
        except (DiscsumError, OSError) as error:
            yield Failure(name, message_of(error))


def input_files(inputs: Sequence[str]) -> dict[str, list[Path]]:
    """Return the local files that `read_inputs` reads, by their folded paths; skip missing inputs and `-`."""
    found, endings = dict[str, list[Path]](), suffixes()
    for name in inputs:
        with suppress(DiscsumError, OSError):
            files = [] if name == "-" else files_of(name, endings)
            for file in files:
                if isinstance(file.path, Path):
                    path = file.path.resolve()
                    found.setdefault(folded(path), []).append(path)
    return found


def count_inputs(inputs: Sequence[str]) -> int | None:
    """Return the number of documents and failures that `read_inputs` yields, or None if `count_rows` returns None.

    Text and tree files count as one without being read; `count_rows` counts the rows of tables. The number is only for
    display: a table that cannot be read to its end yields fewer.
    """
    endings, total = suffixes(), 0
    for name in inputs:
        try:
            files = [] if name == "-" else files_of(name, endings)
        except (DiscsumError, OSError):
            files = []
        # Standard input counts as one document, and a missing input as one failure.
        paths = [file.path for file in files]
        counts = list(map_ahead(_count, paths, READERS)) or [1]
        known = [count for count in counts if count is not None]
        if len(known) < len(counts):
            return None
        total += sum(known)
    return total


def _count(path: Location) -> int | None:
    return count_rows(path) if is_table(path) else 1


def files_of(name: str, trees: Collection[str] | None = None, *, told: bool = False) -> Sequence[Stored]:
    """Return the files of an input by name: the file itself, the matches of a pattern, or the files below a folder.

    Hidden files and folders are skipped. In a folder that discsum made, the files are the shards or parts that its
    manifest lists; with a pattern, only those that match.

    Args:
        name: File, folder or pattern.
        trees: Endings of tree files, which are read from disks only; all by default.
        told: Whether to warn about files of other kinds, see `documents_in`.

    Raises:
        InputError: No such file or folder; or a folder without documents, one that discsum has not finished, or one of
            the library `datasets`.
    """
    path, trees = location(name), suffixes() if trees is None else trees
    kinds = _kinds(path, trees)
    if isinstance(path, Path) and (path.exists() or not is_pattern(path)):
        _check_readable(path)
        if not path.is_dir():
            return [stored(path)]
        refuse_saved(path)
    elif path.is_file():
        if path.suffix.lower() in trees:
            raise InputError(f"{path}: expected a text or a table at a URL, got a tree file; download it first")
        return [stored(path)]
    found = documents_in(path, kinds, told=told)
    if not found and not isinstance(path, Path) and not is_pattern(path) and not path.is_dir():
        raise InputError(f"{path}: no such file or folder, or its store or server does not answer")
    if not found and is_empty(path):
        warn_caller(f"{path}: {NO_DOCUMENTS}")
    elif not found:
        raise InputError(f"{path}: expected files that end in {list_endings(kinds)}, found {_endings(path)}")
    return found


def _check_readable(path: Path) -> None:
    """Raise `InputError` for a path that does not exist, a socket, or a device that has the name of a table."""
    if not path.exists():
        raise InputError(f"{path}: no such file or folder")
    if path.is_socket():
        raise InputError(f"{path}: expected a file or folder, got a socket")
    # Tables have any size, so that an endless one would be read for ever; a pipe may end.
    if is_table(path) and (path.is_char_device() or path.is_block_device()):
        raise InputError(f"{path}: expected a table, got a device; name a file or a pipe")


def _endings(folder: Location) -> str:
    """Return the endings of the files directly in a folder on this machine, for an error."""
    files = folder.iterdir() if isinstance(folder, Path) and folder.is_dir() else ()
    endings = {file.suffix.lower() for file in files if file.suffix and file.is_file()}
    return f"only {', '.join(sorted(endings)[:5])}" if endings else "none"


def _kinds(path: Location, trees: Collection[str]) -> set[str]:
    """Return the endings of files that count as documents in a folder or pattern."""
    return {".txt", *ENDINGS, *TABLES, *(trees if isinstance(path, Path) else ())}


def read_file(path: Location, options: ReadOptions, trees: Collection[str]) -> Iterator[Item | Failure]:
    """Yield the documents of a file; what cannot be read becomes a `Failure`. `trees` has the endings of tree files.

    Raises:
        MissingExtraError: The kind of file needs a library that is not installed.
        NoAnswerError: A store that does not answer; the file may be intact.
    """
    suffix = path.suffix.lower()
    try:
        if suffix in trees and isinstance(path, Path):
            from discsum.formats import read_trees

            for document in read_trees(path, options.given, options.roots, options.largest):
                yield Item(document.id, str(path), document.text, document)
        elif is_table(path):
            checked = False
            rows = read_rows(path, options.encoding, options.convert, options.largest, options.needed_columns)
            for number, (source, row) in enumerate(rows, start=1):
                if isinstance(row, dict) and not checked:
                    _check_columns(row, path, options)
                    checked = True
                yield item_of(row, source, path, str(number), options)
        else:
            content = read_at_most(path, options.largest, f"; {RAISE}")
            yield Item(stem_of(path), str(path), options.text(content, str(path), suffix))
    except (MissingExtraError, NoAnswerError):
        raise
    except (DiscsumError, OSError) as error:
        yield Failure(str(path), message_of(error))


def _check_columns(row: dict[str, Any], path: Location, options: ReadOptions) -> None:
    """Check the first row of a table: without the column of texts the table fails once, not row by row."""
    choices = text_columns(row, options.text_column)
    if path.name.lower().endswith(SAME_COLUMNS):
        find_column(row, choices, options.rename)
    warn_of_other_columns(row, choices, options.rename, path)


def _standard_input(largest: int) -> bytes:
    if sys.stdin is None:
        raise InputError("-: expected a text on standard input, which is closed")
    content = read_up_to(sys.stdin.buffer, largest + 1)
    if len(content) > largest:
        raise InputError(f"-: expected at most {largest:,} bytes on standard input, got more; {RAISE}")
    return content


def item_of(
    row: dict[str, Any] | Failure, source: str, path: Location, label: str, options: ReadOptions
) -> Item | Failure:
    """Return the document of a table's row, or a `Failure`.

    Args:
        row: Content of the row.
        source: File and line, for errors.
        path: The table.
        label: Identifies the row in its table; part of the id of a document that has none of its own.
        options: How the row is read.
    """
    if isinstance(row, Failure):
        return row
    try:
        column = find_column(row, text_columns(row, options.text_column), options.rename)
    except InputError as error:
        return Failure(source, str(error))
    if not isinstance(row[column], str):
        return Failure(source, f"expected text in column {column}, got {json_type(row[column])}")
    if is_larger(row[column], options.largest):
        return Failure(source, f"expected a text of at most {options.largest:,} bytes, got more; {RAISE}")
    name, text, document = own_id(row.get("id")), row[column], None
    try:
        if holds_document(row, options.text_column):
            from discsum.document import Document

            document = Document.from_json(row | {"id": name}, source)
        else:
            text = without_markup(text, markup_of(options.input))
    except MissingExtraError:
        raise
    except DiscsumError as error:
        return Failure(source, str(error))
    return Item(name or row_id(path, label), source, text, document)
