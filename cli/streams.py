"""Standard streams that the caller closed."""

from __future__ import annotations

import errno
import io
import os
import sys
from pathlib import Path


class _Closed(io.RawIOBase):
    """Standard output of a process that has none: writing is an error, as on a full disk."""

    def writable(self) -> bool:
        return True

    def write(self, content: object) -> int:
        raise OSError(errno.EBADF, os.strerror(errno.EBADF), "standard output")


def replace_closed() -> None:
    """Put something in the place of each standard stream that is closed.

    Otherwise the next file that is opened takes its number, and what libraries print goes into that file. Messages are
    dropped; results raise OSError.
    """
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)
    if sys.stdout is None:
        sys.stdout = io.TextIOWrapper(_Closed(), encoding="utf-8", write_through=True)
    if sys.stderr is None:
        # For the process's life.
        sys.stderr = Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115
