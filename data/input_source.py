"""The inputs of a command as a source of documents that a resumed run can read again."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from pathlib import Path
from typing import Any

from discsum.constants import AUTO, DECLARED, MAX_DOCUMENT_BYTES
from discsum.data.divided_tables import DOCUMENTS_INSTEAD, DividedTables, undivided
from discsum.data.encodings import canonical
from discsum.data.failures import Failure
from discsum.data.inputs import (
    Item,
    ReadOptions,
    count_inputs,
    files_of,
    item_of,
    read_file,
    read_inputs,
)
from discsum.data.shard_sizes import BYTES, DOCUMENTS
from discsum.data.slices import ENCODING, Row
from discsum.data.storage import Location, Stored, check_all_unchanged, check_unchanged, location
from discsum.data.table_files import versions_of
from discsum.data.tables import LINE_TABLES
from discsum.errors import InputError
from discsum.format_registry import suffixes


@dataclass(frozen=True)
class InputSource:
    """Files and folders, and the options for reading them.

    Attributes:
        inputs: Names of files and folders, or `-` for standard input.
        encoding: See `read_inputs`, as for the other attributes.
    """

    inputs: Sequence[str]
    encoding: str | None = None
    text_column: str | None = None
    roots: str = "join"
    input: str = AUTO
    max_document_bytes: int = MAX_DOCUMENT_BYTES

    def items(self) -> Iterator[Item | Failure]:
        """Yield the documents in order; an unreadable one becomes a `Failure`.

        After `identity`, these are the documents of the same files.

        Raises:
            InputError: A file that changed or is gone since it was identified.
            MissingExtraError: After `identity`, a kind of file that needs a library that is not installed: a folder of
                shards keeps its failures even if the library is installed later.
            NoAnswerError: After `identity`, a store that does not answer, for the same reason.
        """
        return self._listed_items() if "_files" in vars(self) else read_inputs(self.inputs, **self._arguments)

    def _listed_items(self) -> Iterator[Item | Failure]:
        endings = suffixes()
        for _, file in self._files:
            check_unchanged(file)
            yield from read_file(file.path, self._options, endings)

    @property
    def files(self) -> list[Stored]:
        """The files, listed once; raises the errors of `identity`."""
        return [file for _, file in self._files]

    def check_inputs(self) -> None:
        """Raise `InputError` if a local file has changed since `identity`."""
        check_all_unchanged(self.files)

    def item_of(self, table: Location, row: Row) -> Item | Failure:
        """Return the document of a row of a table that workers read, or a `Failure`."""
        return item_of(row.content, row.source, table, row.label, self._options)

    def needed_columns(self, names: Iterable[str]) -> list[str]:
        """Return the columns of a table that `item_of` reads; see `ReadOptions.needed_columns`."""
        return self._options.needed_columns(names)

    def tables(self, unit: str = DOCUMENTS) -> DividedTables[Item] | None:
        """Return the tables if workers can read all documents from tables themselves; otherwise None.

        Args:
            unit: Unit of shard sizes. With `bytes`, workers must read the documents themselves.

        Raises:
            InputError: `unit` is `bytes` but workers cannot read the inputs; the message says why.
        """
        try:
            files = self.files
        except InputError:
            if unit == BYTES:
                raise
            return None
        if reason := self._undivided(files):
            if unit == BYTES:
                raise InputError(f"{reason}; {DOCUMENTS_INSTEAD}")
            return None
        # Without the inputs, which may be many: the reader is sent with each task.
        reader = InputSource((), **self._arguments)
        options = self._options
        columns = reader.needed_columns
        return DividedTables(files, reader.item_of, options.largest, options.convert, columns=columns, lenient=True)

    def _undivided(self, files: Sequence[Stored]) -> str | None:
        """Return why workers cannot read their own rows of the files; None if they can."""
        if (reason := undivided(files)) is not None:
            return reason
        encoding = self._options.encoding
        lines = next((file for file in files if file.path.suffix.lower() in LINE_TABLES), None)
        if lines is not None and canonical(encoding) != ENCODING:
            return f"{lines.path}: expected {ENCODING} for shards sized in bytes, got the encoding {encoding}"
        return None

    def count(self) -> int | None:
        """Return the number of documents and failures, as `count_inputs` does."""
        return count_inputs(self.inputs)

    def identity(self, *, hashed: bool = True) -> dict[str, Any]:
        """Return the identity of the documents: options, number of files, and a digest of their names and contents.

        Remote files are identified by the version that their store reports, local files by their SHA-256. Local tables
        that workers read are identified by the SHA-256 of sampled blocks if there are several, or if `hashed` is false;
        the blocks of a small table cover all of it.

        Args:
            hashed: Whether to read all of a single table for its SHA-256.

        Raises:
            InputError: Standard input, which cannot be read again; or no such file or folder.
        """
        digest, files = hashlib.sha256(), self.files
        by_driver = self._undivided(files) is not None
        versions = versions_of(files, whole=by_driver or (hashed and len(files) == 1), lenient=True)
        for (place, file), version in zip(self._files, versions, strict=True):
            # File names may have bytes that are not UTF-8.
            digest.update(f"{file.size} {version} {len(place)} {place}\n".encode(errors="surrogateescape"))
        options = self._arguments | {"encoding": self.encoding or DECLARED}
        return {"files": len(files), "digest": digest.hexdigest()} | options

    @property
    def _arguments(self) -> dict[str, Any]:
        """The keyword arguments of `read_inputs`."""
        return {one.name: getattr(self, one.name) for one in fields(InputSource) if one.name != "inputs"}

    @cached_property
    def _options(self) -> ReadOptions:
        return ReadOptions.of(**self._arguments)

    @cached_property
    def _files(self) -> list[tuple[str, Stored]]:
        """The files, each with its name below its input folder, listed once; raises the errors of `identity`."""
        found = []
        for name in self.inputs:
            if name == "-":
                raise InputError(
                    "-: expected files, which can be read again, got standard input; save it to a file first"
                )
            root = location(name)
            is_folder = root.is_dir()
            # With slashes on every system, so that a digest of the names is the same.
            top = root.as_posix() if isinstance(root, Path) else str(root)
            for file in files_of(name, told=True):
                path = file.path
                if isinstance(path, Path) and not path.is_file():
                    raise InputError(f"{path}: expected a file, which can be read again, got a device or a pipe")
                inside = path.as_posix() if isinstance(path, Path) else str(path)
                found.append((inside.removeprefix(f"{top}/") if is_folder else path.name, file))
        return found
