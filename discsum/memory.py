"""Return freed memory of this process to the system."""

from __future__ import annotations

import ctypes
from functools import cache
from typing import Any


def trim_heap() -> None:
    """Return freed memory to the system where the C library is glibc; elsewhere do nothing.

    glibc keeps the freed memory of tensors below 32 MiB that lie between others still in use (mallopt(3),
    M_MMAP_THRESHOLD). Encoding 200,000 words would leave 190 MiB.
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
