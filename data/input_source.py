"""The inputs of a command as a source of documents that can be read again, by a run that goes on with them."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from discsum.constants import AUTO, MAX_DOCUMENT_BYTES
from discsum.data.inputs import Item, ReadOptions, count_inputs, files_of, item_of, read_inputs
from discsum.data.slices import DIVIDED, ENCODING, Slice, Tables
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
        return read_inputs(self.inputs, **self._read_with())

    @property
    def options(self) -> ReadOptions:
        """How rows of tables are read."""
        return ReadOptions.of(**self._read_with())

    def tables(self) -> Tables[Item] | None:
        """Return the tables, if the documents are rows of tables alone of which workers can read their own."""
        options = self.options
        if options.encoding != ENCODING or "-" in self.inputs:
            return None
        try:
            paths = [path for name in self.inputs for path in files_of(name)]
            if any(kind_of(path) not in DIVIDED or not path.is_file() for path in paths):
                return None
            for path in paths:
                if kind_of(path) == ".parquet":
                    with parquet_file(path) as table:
                        # One without the column fails as a whole, not row by row.
                        find_column(dict.fromkeys(table.schema_arrow.names), options.columns, options.rename)
            files = [stored(path) for path in paths]
        except (DiscsumError, OSError):
            # Each file that cannot be read is a failure of its own.
            return None
        return Tables(files, partial(ItemSlices, self), self.max_document_bytes)

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
        named: list[tuple[str, Location]] = []
        for name in self.inputs:
            if name == "-":
                raise InputError("-: expected files, which can be read again, got standard input; save it to one first")
            root = location(name)
            is_folder = root.is_dir()
            for path in files_of(name):
                if not path.is_file():
                    raise InputError(f"{path}: expected a file, which can be read again, got a device or a pipe")
                # Names give documents their ids; they may be bytes that are no characters.
                named.append((str(path).removeprefix(f"{root}/") if is_folder else path.name, path))
        whole, blocks = hashlib.sha256(), max(2, BLOCKS // max(1, len(named)))
        for place, path in named:
            whole.update(f"{_version(stored(path), blocks)} {len(place)} {place}\n".encode(errors="surrogateescape"))
        return {"files": len(named), "sha256": whole.hexdigest()} | self._read_with()

    def _read_with(self) -> dict[str, Any]:
        return {name: value for name, value in asdict(self).items() if name != "inputs"}


@dataclass(frozen=True)
class ItemSlices:
    """Documents that are read from their tables when they are iterated over, as by a worker.

    Attributes:
        slices: Where their rows are.
        base: Folder that the paths of tables are relative to.
    """

    source: InputSource
    slices: tuple[Slice, ...]
    base: Path = field(default_factory=Path.cwd)

    def __iter__(self) -> Iterator[Item | Failure]:
        """Yield the documents.

        Raises:
            InputError: A table that is not there, or another than that of the slices.
        """
        options = self.source.options
        for part in self.slices:
            for row in part.rows(self.base, options.largest, options.convert):
                yield item_of(row.content, row.source, part.file.path, row.label, options)


def _version(file: Stored, blocks: int) -> str:
    """Return what tells the content of a file from others."""
    return f"{file.size} {sampled(file, blocks) if isinstance(file.path, Path) else file.version}"
