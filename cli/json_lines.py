"""A file of JSON lines that a later run can complete after an interruption."""

from __future__ import annotations

import json
import os
import shutil
from contextlib import ExitStack
from pathlib import Path
from typing import IO, Any

from discsum.cli.progress import say
from discsum.errors import InputError, OutputError, number_of
from discsum.files import locked, sha256_of_text

# Field of a line with the digest of its text, and the hexadecimal digits of the digest.
DIGEST, DIGITS = "text_sha256", 12
_ANEW = "leave out --resume to start again, or name another file"


class JsonLines:
    """Writes JSON lines to `.NAME.partial`, and renames it to `NAME` when the block ends without an error.

    The partial file stays after an error, an interruption or a kill. A lock keeps a second run from writing to it.

    Attributes:
        written: The ids of the lines kept from an earlier run, with the digest of each one's text; empty without one.
    """

    def __init__(self, path: Path, *, resume: bool, options: str = "") -> None:
        """Set the file's path; with `resume`, keep the lines of its partial file, or else of the finished file.

        Kept lines must have `options` as their field `options`.
        """
        self.path, self.resume, self._options = path, resume, options
        self.partial = path.with_name(f".{path.name}.partial")
        self.written: dict[str, list[str]] = {}
        self._lock = ExitStack()
        self._stream: IO[bytes] | None = None
        # The file with the lines to keep, and the offset after them.
        self._kept: tuple[Path, int] | None = None

    def __enter__(self) -> JsonLines:
        """Take the lock, and read the lines to keep.

        Raises:
            InputError: Another run is writing the file, or a line is not an object with an id, or has other options.
        """
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with ExitStack() as stack:
            stack.enter_context(locked(self.path.with_name(f".{self.path.name}.lock"), self.path))
            if self.resume:
                finished = not self.partial.exists() and self.path.is_file()
                # A finished file is copied when the first line is written, so that an error leaves no partial file.
                self._read(self.path if finished else self.partial)
            elif left := self._lines_left():
                say(
                    f"discsum: {self.path}: an interrupted run left {number_of(left, 'result')} in "
                    f"{self.partial.name}; this run starts again, --resume would go on"
                )
            self._lock = stack.pop_all()
        return self

    def __exit__(self, kind: type[BaseException] | None, *rest: Any) -> None:
        """Rename the file into place, if there is one and no error."""
        with self._lock:
            if self._stream is None and kind is None and self._kept is not None and self._kept[0] == self.partial:
                # Nothing was left to do.
                self._stream = self._open()
            if self._stream is not None:
                os.fsync(self._stream.fileno())
                self._stream.close()
                if kind is None:
                    self.partial.replace(self.path)

    def write(self, content: bytes) -> None:
        """Append whole lines; after an error, truncate the file to what it was before.

        Raises:
            OutputError: The lines cannot be written; the error names the file.
        """
        if self._stream is None:
            try:
                self._stream = self._open()
            except OSError as error:
                raise OutputError(f"{self.path}: {error.strerror}") from error
        end = self._stream.tell()
        try:
            # A write to an unbuffered file may be partial.
            while content:
                content = content[self._stream.write(content) :]
        except OSError as error:
            self._stream.seek(end)
            self._stream.truncate()
            raise OutputError(f"{self.path}: {error.strerror}") from error

    def _read(self, source: Path) -> None:
        """Note the ids of a file's complete lines; the next line is to follow the last of them."""
        if not source.exists():
            return
        end = 0
        with source.open("rb") as lines:
            for number, line in enumerate(lines, start=1):
                if not line.endswith(b"\n"):
                    break
                end += len(line)
                id, digest = self._line(line, f"{source}:{number}")
                self.written.setdefault(id, []).append(digest)
        self._kept = source, end

    def _lines_left(self) -> int:
        """Return the number of lines that an interrupted run wrote."""
        if not self.partial.is_file():
            return 0
        with self.partial.open("rb") as lines:
            return sum(line.endswith(b"\n") for line in lines)

    def has(self, id: str, text: str, source: str) -> bool:
        """Return whether a line of a document was kept, and take it: of documents with the same id each has its own.

        Raises:
            InputError: The line is of another text, so the input has changed.
        """
        digests = self.written.get(id)
        if not digests:
            return False
        digest = text_digest(text)
        known = next((found for found in (digest, "") if found in digests), None)
        if known is None:
            raise InputError(
                f"{source}: expected the text from which an earlier run made the line of {id} in {self.path}, got "
                f"another one: it has changed, or several documents have this id; {_ANEW}"
            )
        digests.remove(known)
        return True

    def _open(self) -> IO[bytes]:
        """Return the partial file, open after the lines to keep; a finished file is copied to it first."""
        if self._kept is None:
            return self.partial.open("wb", buffering=0)
        source, end = self._kept
        if source != self.partial:
            shutil.copyfile(source, self.partial)
        stream = self.partial.open("r+b", buffering=0)
        stream.seek(end)
        stream.truncate()
        return stream

    def _line(self, line: bytes, source: str) -> tuple[str, str]:
        """Return id and text digest of a line, after checking that a run with the same options wrote it."""
        try:
            data = json.loads(line)
            id = str(data["id"])
        except (ValueError, TypeError, KeyError) as error:
            raise InputError(
                f"{source}: expected a JSON object with an id to resume after, got {line[:40]!r}; {_ANEW}"
            ) from error
        check_options(source, str(data.get("options", "")), self._options)
        return id, str(data.get(DIGEST, ""))


def text_digest(text: str) -> str:
    """Return the digest of a text that lines record for `--resume`."""
    return sha256_of_text(text)[:DIGITS]


def check_options(source: str, found: str, wanted: str) -> None:
    """Raise `InputError` if the results to resume from were made with other options, or by another command."""
    if found != wanted:
        raise InputError(
            f"{source}: expected results made with the same options ({wanted}), got {found or 'no options'}; {_ANEW}"
        )
