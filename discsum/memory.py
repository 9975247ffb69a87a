"""Return freed memory of this process to the system."""

from __future__ import annotations

import ctypes
import time
from functools import cache
from typing import Any

# Seconds between two calls of `trim_heap` by `trim_heap_at_times`.
PAUSE = 5.0
# When the heap was last trimmed by `trim_heap_at_times`.
_trimmed = time.monotonic()


def trim_heap() -> None:
    """Return freed memory to the system where the C library is glibc; elsewhere do nothing.

    glibc keeps the freed memory of tensors below 32 MiB that lie between others still in use (mallopt(3),
    M_MMAP_THRESHOLD). Encoding 200,000 words would leave 190 MiB.
    """
    trim = _malloc_trim()
    if trim is not None:
        trim(0)


def trim_heap_at_times() -> None:
    """Call `trim_heap` unless that was done in the last `PAUSE` seconds: it takes some milliseconds."""
    global _trimmed
    now = time.monotonic()
    if now - _trimmed >= PAUSE:
        _trimmed = now
        trim_heap()


@cache
def _malloc_trim() -> Any:
    try:
        return ctypes.CDLL(None).malloc_trim
    except (OSError, TypeError, AttributeError):
        return None
