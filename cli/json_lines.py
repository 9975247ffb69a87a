"""A file of JSON lines that an interrupted run leaves unfinished, so that another goes on with it."""

from __future__ import annotations

import json
import os
import shutil
from collections import Counter
from pathlib import Path
from typing import IO, Any

from filelock import FileLock, Timeout

from discsum.errors import InputError


class JsonLines:
    """JSON lines in `.NAME.partial` beside their place; renamed into it when the block ends without an error.

    The unfinished file stays after an error, an interruption or a kill. A lock keeps a second run from writing to it.

    Attributes:
        written: The ids of the lines that were there before, each with its number of lines.
    """

    def __init__(self, path: Path, *, resume: bool) -> None:
        """Name the file; with `resume`, its unfinished lines, or else the finished file's, are kept."""
        self.path, self.resume = path, resume
        self.partial = path.with_name(f".{path.name}.partial")
        self.written: Counter[str] = Counter()
        self._lock = FileLock(path.with_name(f".{path.name}.lock"))
        self._stream: IO[bytes] | None = None

    def __enter__(self) -> JsonLines:
        """Take the lock, and read what was written before.

        Raises:
            InputError: Another run writes the file, or a line is no object with an id.
        """
        self.path.parent.mkdir(parents=True, exist_ok=True)
        try:
            self._lock.acquire(timeout=0)
        except Timeout as error:
            raise InputError(
                f"{self.path}: expected to be alone with it, got another run that writes it; wait for that one"
            ) from error
        try:
            if self.resume:
                if not self.partial.exists() and self.path.is_file():
                    shutil.copyfile(self.path, self.partial)
                self._read()
        except BaseException:
            self._unlock()
            raise
        return self

    def __exit__(self, kind: type[BaseException] | None, *rest: Any) -> None:
        """Rename the file into place, if there is one and no error."""
        try:
            if self._stream is not None:
                os.fsync(self._stream.fileno())
                self._stream.close()
                if kind is None:
                    self.partial.replace(self.path)
        finally:
            self._unlock()

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

    def _read(self) -> None:
        """Count the ids of the whole lines, and cut off what follows the last one."""
        if not self.partial.exists():
            return
        self._stream = self.partial.open("r+b", buffering=0)
        end = 0
        with self.partial.open("rb") as lines:
            for number, line in enumerate(lines, start=1):
                if not line.endswith(b"\n"):
                    break
                end += len(line)
                self.written[_id(line, f"{self.partial}:{number}")] += 1
        self._stream.seek(end)
        self._stream.truncate()

    def _unlock(self) -> None:
        Path(self._lock.lock_file).unlink(missing_ok=True)
        self._lock.release()


def _id(line: bytes, source: str) -> str:
    try:
        return str(json.loads(line)["id"])
    except (ValueError, TypeError, KeyError) as error:
        raise InputError(
            f"{source}: expected a JSON object with an id, as --resume goes on after, got {line[:40]!r}; "
            "leave out --resume to begin anew"
        ) from error
