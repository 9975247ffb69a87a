"""The inputs of a command as a source of documents that can be read again, by a run that goes on with them."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from discsum.constants import AUTO, MAX_DOCUMENT_BYTES
from discsum.data.inputs import Item, count_inputs, files_of, read_inputs
from discsum.data.storage import Location, location, sha256, stored
from discsum.data.tables import Failure
from discsum.errors import InputError


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
        return read_inputs(
            self.inputs,
            self.encoding,
            text_column=self.text_column,
            roots=self.roots,
            input=self.input,
            max_document_bytes=self.max_document_bytes,
        )

    def count(self) -> int | None:
        """Return the number of documents and failures, as `count_inputs` does."""
        return count_inputs(self.inputs)

    def identity(self) -> dict[str, Any]:
        """Return the identity of the documents: options, number of files, and a checksum of their names and contents.

        What a store says of a file's version stands for its content.

        Raises:
            InputError: Standard input, which nobody can read again; or no such file or folder.
        """
        whole, count = hashlib.sha256(), 0
        for name in self.inputs:
            if name == "-":
                raise InputError("-: expected files, which can be read again, got standard input; save it to one first")
            root = location(name)
            is_folder = root.is_dir()
            for path in files_of(name):
                if not path.is_file():
                    raise InputError(f"{path}: expected a file, which can be read again, got a device or a pipe")
                # Names give documents their ids; they may be bytes that are no characters.
                place = str(path).removeprefix(f"{root}/") if is_folder else path.name
                whole.update(f"{_version(path)} {len(place)} {place}\n".encode(errors="surrogateescape"))
                count += 1
        options = {name: value for name, value in asdict(self).items() if name != "inputs"}
        return {"files": count, "sha256": whole.hexdigest()} | options


def _version(path: Location) -> str:
    """Return what tells the content of a file from others."""
    if isinstance(path, Path):
        return sha256(path)
    found = stored(path)
    return f"{found.size} {found.version}"
