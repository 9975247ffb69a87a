"""Files that are whole or absent: written beside their place and renamed into it."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

_SURROGATE = re.compile("[\ud800-\udfff]")


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Yield a path beside `path` to write to; it replaces `path` when the block ends without an error.

    The file is on the disk before it takes its place, so that a machine that stops leaves none that is empty.

    Raises:
        OSError: The file cannot be written; the error names `path`, as the system's own often does not.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(f".{path.name}.{os.getpid()}.partial")
    try:
        try:
            yield partial
            with partial.open("rb+") as file:
                os.fsync(file.fileno())
            partial.replace(path)
        finally:
            partial.unlink(missing_ok=True)
    except OSError as error:
        if error.errno is None or str(error.filename or partial) != str(partial):
            raise
        raise OSError(error.errno, os.strerror(error.errno), str(path)) from error


@contextmanager
def replacing_folder(folder: Path) -> Iterator[Path]:
    """Yield an empty folder beside `folder` to write to; when the block ends without an error it takes its place.

    Files of the old folder that the new one has not stay. Killed between its two renames, which take no time, the old
    folder is found beside its place under another name; `replaced` puts it back.
    """
    replaced(folder)
    new, old = (folder.with_name(f".{folder.name}.{name}") for name in ("new", "old"))
    shutil.rmtree(new, ignore_errors=True)
    new.mkdir(parents=True)
    try:
        yield new
        if folder.is_dir():
            for path in folder.iterdir():
                if not (new / path.name).exists():
                    shutil.copy2(path, new / path.name) if path.is_file() else shutil.copytree(path, new / path.name)
            folder.rename(old)
        new.rename(folder)
        shutil.rmtree(old, ignore_errors=True)
    finally:
        shutil.rmtree(new, ignore_errors=True)


def replaced(folder: Path) -> None:
    """End what a `replacing_folder` that was killed began."""
    old = folder.with_name(f".{folder.name}.old")
    if not old.is_dir():
        return
    if folder.is_dir():
        shutil.rmtree(old, ignore_errors=True)
    else:
        old.rename(folder)


def sha256(path: Path) -> str:
    """Return the SHA-256 of a file, in hexadecimal digits."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def to_line(data: Any, *, pretty: bool = False) -> str:
    """Return JSON in one line, or indented; lone surrogates, which no file can hold, stay escaped."""
    text = json.dumps(data, ensure_ascii=False, indent=1 if pretty else None)
    return _SURROGATE.sub(lambda match: f"\\u{ord(match.group()):04x}", text) + "\n"
