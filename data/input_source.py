"""The inputs of a command as a source of documents that can be read again, by a run that goes on with them."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from discsum.constants import AUTO, MAX_DOCUMENT_BYTES
from discsum.data.inputs import Item, ReadOptions, count_inputs, files_of, item_of, read_inputs
from discsum.data.slices import ENCODING, DividedTables, Row, can_divide
from discsum.data.storage import Location, Stored, location, stored
from discsum.data.table_files import BLOCKS, sampled
from discsum.data.tables import Failure, find_column, kind_of, parquet_file
from discsum.errors import DiscsumError, InputError


@dataclass(frozen=True)
class InputSource:
    """Files and folders, and the options that they are read with.

    Attributes:
        inputs: Their names, or `-` for standard input.
        encoding: As of `read_inputs`, and so are the others.
    """

    inputs: Sequence[str]
    encoding: str | None = None
    text_column: str | None = None
    roots: str = "join"
    input: str = AUTO
    max_document_bytes: int = MAX_DOCUMENT_BYTES

    def items(self) -> Iterator[Item | Failure]:
        """Yield the documents in order; an unreadable one becomes a `Failure`."""
        return read_inputs(self.inputs, **self._arguments)

    def item_of(self, table: Location, row: Row) -> Item | Failure:
        """Return the document of a row of a table that workers read, or why it is none."""
        return item_of(row.content, row.source, table, row.label, self._options)

    def tables(self) -> DividedTables[Item] | None:
        """Return the tables, if the documents are rows of tables alone of which workers can read their own."""
        options = self._options
        if options.encoding != ENCODING:
            return None
        try:
            files = [file for _, file in self._files]
            if not can_divide(file.path for file in files):
                return None
            for file in files:
                if kind_of(file.path) == ".parquet":
                    with parquet_file(file.path) as table:
                        # One without the column fails as a whole, not row by row.
                        find_column(dict.fromkeys(table.schema_arrow.names), options.columns, options.rename)
        except (DiscsumError, OSError):
            # Each file that cannot be read is a failure of its own.
            return None
        # Without the inputs, which are many: it goes with each task.
        reader = replace(self, inputs=())
        return DividedTables(files, reader.item_of, options.largest, options.convert)

    def count(self) -> int | None:
        """Return the number of documents and failures, as `count_inputs` does."""
        return count_inputs(self.inputs)

    def identity(self) -> dict[str, Any]:
        """Return the identity of the documents: options, number of files, and a digest of their names and contents.

        For its content stands what a store says of a file's version; of a local one its size and the SHA-256 of blocks
        of it, which are all of a small file.

        Raises:
            InputError: Standard input, which nobody can read again; or no such file or folder.
        """
        whole, blocks = hashlib.sha256(), max(2, BLOCKS // max(1, len(self._files)))
        for place, file in self._files:
            version = sampled(file, blocks) if isinstance(file.path, Path) else file.version
            whole.update(f"{file.size} {version} {len(place)} {place}\n".encode(errors="surrogateescape"))
        return {"files": len(self._files), "digest": whole.hexdigest()} | self._arguments

    @property
    def _arguments(self) -> dict[str, Any]:
        """What `read_inputs` takes beside the inputs."""
        return {one.name: getattr(self, one.name) for one in fields(self) if one.name != "inputs"}

    @cached_property
    def _options(self) -> ReadOptions:
        return ReadOptions.of(**self._arguments)

    @cached_property
    def _files(self) -> list[tuple[str, Stored]]:
        """The files, each with the name that its documents' ids are from, listed once; errors as of `identity`."""
        found = []
        for name in self.inputs:
            if name == "-":
                raise InputError("-: expected files, which can be read again, got standard input; save it to one first")
            root = location(name)
            is_folder = root.is_dir()
            for path in files_of(name):
                if not path.is_file():
                    raise InputError(f"{path}: expected a file, which can be read again, got a device or a pipe")
                # Names may be bytes that are no characters.
                found.append((str(path).removeprefix(f"{root}/") if is_folder else path.name, stored(path)))
        return found
