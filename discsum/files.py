"""Atomic writes, to temporary files that are then renamed; locks against other processes."""

from __future__ import annotations

import hashlib
import json
import os
import platform
import re
import shutil
import time
import unicodedata
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from secrets import token_hex
from typing import IO, Any, Literal, Protocol

from discsum.errors import InputError, LockedError, warn_caller

# Suffix of a file that is being written.
WRITING = ".writing"
# The name of this machine; other machines may write to the same disk.
HOST = re.sub(r"[^\w-]", "-", platform.node())
# Seconds after which a file that another machine left half-written counts as abandoned.
ABANDONED = 3600
# Bytes that are read from a file at once.
PIECE = 1 << 20
# PID namespace of this process: containers may share the name of their machine, but number processes independently.
_NUMBERS = Path("/proc/self/ns/pid")
# Whether signal 0 asks if a process is running; on Windows it would end it.
_SIGNALS = os.name == "posix"
# How Rust ends the message of such an error, for example in safetensors and tokenizers.
_SYSTEM_ERROR = re.compile(r"([^:]+) \(os error (\d+)\)$")
_SURROGATE = re.compile("[\ud800-\udfff]")


def folded(name: str | Path) -> str:
    """Return what names have in common that may be the same file: some systems ignore case or compose letters."""
    return unicodedata.normalize("NFC", str(name)).casefold()


def is_device(path: Path) -> bool:
    """Return whether a path exists and is neither a file nor a folder, such as `/dev/null` or a pipe."""
    return path.exists() and not path.is_file() and not path.is_dir()


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Yield a temporary path next to `path`; it replaces `path` when the block ends without an error.

    Folders that are missing are made. The file is synced to disk before the rename, so a crash leaves no empty file.
    Other processes that replace the same path write to other temporary paths.

    Raises:
        OSError: The file cannot be written; the error names `path`.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    # File names have at most 255 bytes, machine names 64.
    partial = path.with_name(f".{path.name[:32]}.{token_hex(4)}.{process_scope()}-{os.getpid()}{WRITING}")
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
def system_errors(folder: Path) -> Iterator[None]:
    """Raise errors of the operating system as `OSError` with a path, also those that libraries in Rust raise as theirs.

    Raises:
        OSError: Such an error in the block; it names `folder` unless the error itself has a path.
    """
    try:
        yield
    except Exception as error:
        if found := _SYSTEM_ERROR.search(str(error)):
            # Its own words: the numbers of Windows are not those of `os.strerror`.
            raise OSError(int(found[2]), found[1].strip(), str(folder)) from error
        if isinstance(error, OSError) and error.errno is not None and error.filename is None:
            raise OSError(error.errno, error.strerror, str(folder)) from error
        raise


def clear_unfinished(folder: Path) -> None:
    """Remove temporary files that killed processes left in a folder; files of running processes stay.

    Whether a process of another machine or container is still running is unknown, as is that of any process on Windows,
    so its files are removed when nobody has written to them for an hour.
    """
    for path in folder.glob(f".*{WRITING}"):
        host, _, number = path.stem.rpartition(".")[2].rpartition("-")
        known = host == process_scope() and _SIGNALS
        if host and number.isdigit() and (not _alive(int(number)) if known else _abandoned(path)):
            # Another process may have removed it, and others' files may not be ours to remove.
            with suppress(OSError):
                path.unlink()


def process_scope() -> str:
    """Return the machine's name and, on Linux, the number of the PID namespace, for use in file names."""
    try:
        return f"{HOST}-{_NUMBERS.stat().st_ino}"
    except OSError:
        return HOST


def _abandoned(path: Path) -> bool:
    try:
        return time.time() - path.stat().st_mtime > ABANDONED
    except FileNotFoundError:
        return True


def _alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:
        # The process of another user.
        return True
    return True


@contextmanager
def replacing_folder(folder: Path) -> Iterator[Path]:
    """Yield a temporary empty folder; it replaces `folder` when the block ends without an error.

    Files of the old folder that are missing from the new one are kept. If the process is killed between the two
    renames, `recover_folder` restores the old folder.
    """
    recover_folder(folder)
    new = folder.with_name(f".{folder.name}.new")
    shutil.rmtree(new, ignore_errors=True)
    new.mkdir(parents=True)
    try:
        yield new
        replace_folder(folder, new)
    finally:
        shutil.rmtree(new, ignore_errors=True)


def replace_folder(folder: Path, new: Path) -> None:
    """Replace a folder with another one beside it, which disappears; kept files and kills as in `replacing_folder`."""
    recover_folder(folder)
    old = folder.with_name(f".{folder.name}.old")
    if folder.is_dir():
        for path in folder.iterdir():
            if not (new / path.name).exists():
                _copy(path, new / path.name)
        folder.rename(old)
    new.rename(folder)
    shutil.rmtree(old, ignore_errors=True)


def _copy(path: Path, to: Path) -> None:
    """Copy a file or folder; a kill leaves no part of it under its name."""
    partial = to.with_name(f".{to.name}.part")
    if path.is_file():
        shutil.copy2(path, partial)
    else:
        shutil.rmtree(partial, ignore_errors=True)
        shutil.copytree(path, partial)
    partial.rename(to)


def recover_folder(folder: Path) -> None:
    """Complete or undo a `replacing_folder` that was killed."""
    old = folder.with_name(f".{folder.name}.old")
    if not old.is_dir():
        return
    if folder.is_dir():
        shutil.rmtree(old, ignore_errors=True)
    else:
        old.rename(folder)


@contextmanager
def locked(lock: Path, what: Path, *, wait: bool = False, seconds: float = 0) -> Iterator[None]:
    """Hold the file `lock` against other processes while the block runs; it is removed at the end.

    The operating system releases the lock if the process is killed.

    Raises:
        LockedError: Another run holds it for `seconds`, and `wait` is false; the error names `what` it protects.
    """
    # Imported late, because most processes lock nothing.
    from filelock import FileLock, Timeout

    file, used = FileLock(lock, timeout=seconds), f"{what}: another run is using it"
    try:
        file.acquire()
    except Timeout as error:
        if not wait:
            raise LockedError(f"{used}; wait for that run to end") from error
        warn_caller(f"{used}; waiting for it to end")
        file.acquire(timeout=-1)
    try:
        yield
    finally:
        # Removed while the lock is held: a process that waits for a removed file tries again. On Windows, filelock
        # removes it on release.
        with suppress(OSError):
            lock.unlink()
        file.release()


class Readable(Protocol):
    """A path of a file that can be opened, on this machine or elsewhere."""

    def open(self, mode: Literal["rb"], /) -> IO[bytes]:
        """Open the file to read bytes."""


def read_at_most(path: Readable, largest: int, remedy: str = "") -> bytes:
    """Return the content of a file; at most `largest + 1` bytes are read, even if the file has no end.

    Raises:
        InputError: More than `largest` bytes; the message ends with `remedy`.
        OSError: It cannot be read.
    """
    with path.open("rb") as file:
        content = read_up_to(file, largest + 1)
    if len(content) > largest:
        raise InputError(f"{path}: expected at most {largest:,} bytes, got more{remedy}")
    return content


def read_up_to(file: IO[bytes], size: int) -> bytes:
    """Return the next `size` bytes of a file, fewer at its end; takes memory for what there is, not for `size`."""
    pieces = []
    while size and (piece := file.read(min(size, PIECE))):
        pieces.append(piece)
        size -= len(piece)
    return b"".join(pieces)


def sha256(path: Path) -> str:
    """Return the SHA-256 of a file, in hexadecimal digits."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def sha256_of_text(text: str) -> str:
    """Return the SHA-256 of a text in UTF-8, in hexadecimal digits; lone surrogates are encoded as they are."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def to_line(data: Any, *, pretty: bool = False) -> str:
    """Return JSON in one line, or indented; lone surrogates, which UTF-8 cannot encode, stay escaped."""
    text = json.dumps(data, ensure_ascii=False, indent=1 if pretty else None)
    return _SURROGATE.sub(lambda match: f"\\u{ord(match.group()):04x}", text) + "\n"
