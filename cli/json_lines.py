"""A file of JSON lines that an interrupted run leaves unfinished, so that another goes on with it."""

from __future__ import annotations

import json
import os
import shutil
from collections import Counter
from contextlib import ExitStack
from pathlib import Path
from typing import IO, Any

from discsum.errors import InputError
from discsum.files import locked

_ANEW = "leave out --resume to begin anew, or name another file"


class JsonLines:
    """JSON lines in `.NAME.partial` beside their place; renamed into it when the block ends without an error.

    The unfinished file stays after an error, an interruption or a kill. A lock keeps a second run from writing to it.

    Attributes:
        written: The ids of the lines that were there before, each with its number of lines.
    """

    def __init__(self, path: Path, *, resume: bool, options: str = "") -> None:
        """Name the file; with `resume`, its unfinished lines, or else the finished file's, are kept.

        `options` is what kept lines must have in their field of this name.
        """
        self.path, self.resume, self._options = path, resume, options
        self.partial = path.with_name(f".{path.name}.partial")
        self.written: Counter[str] = Counter()
        self._lock = ExitStack()
        self._stream: IO[bytes] | None = None

    def __enter__(self) -> JsonLines:
        """Take the lock, and read what was written before.

        Raises:
            InputError: Another run writes the file, or a line is no object with an id, or one of other options.
        """
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with ExitStack() as stack:
            stack.enter_context(locked(self.path.with_name(f".{self.path.name}.lock"), self.path))
            if self.resume:
                finished = not self.partial.exists() and self.path.is_file()
                # What is copied is checked first, so that a refusal leaves nothing behind.
                self._read(self.path if finished else self.partial)
            self._lock = stack.pop_all()
        return self

    def __exit__(self, kind: type[BaseException] | None, *rest: Any) -> None:
        """Rename the file into place, if there is one and no error."""
        with self._lock:
            if self._stream is not None:
                os.fsync(self._stream.fileno())
                self._stream.close()
                if kind is None:
                    self.partial.replace(self.path)

    def write(self, content: bytes) -> None:
        """Append whole lines; after an error the file ends with the line before.

        Raises:
            OSError: They cannot be written; the error names the file.
        """
        if self._stream is None:
            self._stream = self.partial.open("wb", buffering=0)
        end = self._stream.tell()
        try:
            # An unbuffered file may take a part of what it is given.
            while content:
                content = content[self._stream.write(content) :]
        except OSError as error:
            self._stream.seek(end)
            self._stream.truncate()
            raise OSError(error.errno, error.strerror, str(self.path)) from error

    def _read(self, source: Path) -> None:
        """Count the ids of the whole lines of a file, and go on behind the last one in the unfinished file."""
        if not source.exists():
            return
        end = 0
        with source.open("rb") as lines:
            for number, line in enumerate(lines, start=1):
                if not line.endswith(b"\n"):
                    break
                end += len(line)
                self.written[self._id(line, f"{source}:{number}")] += 1
        if source != self.partial:
            shutil.copyfile(source, self.partial)
        self._stream = self.partial.open("r+b", buffering=0)
        self._stream.seek(end)
        self._stream.truncate()

    def _id(self, line: bytes, source: str) -> str:
        """Return the id of a line, once it is certain that this run could have written the line."""
        try:
            data = json.loads(line)
            id = str(data["id"])
        except (ValueError, TypeError, KeyError) as error:
            raise InputError(
                f"{source}: expected a JSON object with an id, as --resume goes on after, got {line[:40]!r}; {_ANEW}"
            ) from error
        check_options(source, str(data.get("options", "")), self._options)
        return id


def check_options(source: str, found: str, wanted: str) -> None:
    """Raise `InputError` where results of other options, or of another command, are to be gone on with."""
    if found != wanted:
        raise InputError(
            f"{source}: expected results of the options {wanted} to go on with --resume, got {found or 'none'}; {_ANEW}"
        )
