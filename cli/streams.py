"""Standard streams: those that the caller closed, and the encoding and buffer of standard output."""

from __future__ import annotations

import errno
import io
import os
import sys
from contextlib import suppress
from pathlib import Path


class _Closed(io.RawIOBase):
    """Standard output of a process that has none: writing raises an error, as on a full disk."""

    def writable(self) -> bool:
        return True

    def write(self, content: object) -> int:
        raise OSError(errno.EBADF, os.strerror(errno.EBADF), "standard output")


def replace_closed() -> None:
    """Replace each closed standard stream.

    Otherwise the next file that is opened gets its file descriptor, and output of libraries goes into that file.
    Messages to standard error are dropped; writing results to standard output raises OSError.
    """
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)
    if sys.stdout is None:
        sys.stdout = io.TextIOWrapper(_Closed(), encoding="utf-8", write_through=True)
    if sys.stderr is None:
        # Open until the process ends.
        sys.stderr = Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115


def buffer_output() -> None:
    """Buffer standard output, and write to it in UTF-8 unless it is a terminal.

    With `PYTHONUNBUFFERED` there is no buffer, and a write may write only a part. Files are in UTF-8 too, whereas code
    pages of Windows lack many characters.
    """
    own = sys.stdout
    if own is not sys.__stdout__ or not isinstance(own, io.TextIOWrapper):
        return
    shown = own.isatty()
    encoding = own.encoding if shown else "utf-8"
    if isinstance(own.buffer, io.RawIOBase):
        results = os.fdopen(os.dup(own.fileno()), "wb")
        sys.stdout = io.TextIOWrapper(results, encoding, own.errors, line_buffering=shown)
    else:
        own.reconfigure(encoding=encoding, errors=own.errors)


def drop_unwritten() -> None:
    """Drop what cannot be written to standard output: Python flushes it at exit, which must not fail."""
    try:
        sys.stdout.flush()
    except OSError:
        with suppress(OSError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
