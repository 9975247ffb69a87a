"""Standard streams that the caller closed."""

from __future__ import annotations

import errno
import io
import os
import sys
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
