"""Memory of this process that nothing uses any more."""

from __future__ import annotations

import ctypes
from functools import cache
from typing import Any


def give_back() -> None:
    """Return freed memory to the system where the C library is glibc; elsewhere do nothing.

    glibc keeps what tensors of less than 32 MiB leave behind between others that are still used (mallopt(3),
    M_MMAP_THRESHOLD). Of a text of a million words that is 7% of the memory at its peak.
    """
    trim = _malloc_trim()
    if trim is not None:
        trim(0)


@cache
def _malloc_trim() -> Any:
    try:
        return ctypes.CDLL(None).malloc_trim
    except (OSError, TypeError, AttributeError):
        return None
