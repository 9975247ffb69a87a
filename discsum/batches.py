"""Anything, so many at a time."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import TypeVar

T = TypeVar("T")


def batches(items: Iterable[T], size: int) -> Iterator[list[T]]:
    """Yield the items in order, `size` at a time, taken as they are needed: Python 3.12's `itertools.batched`."""
    remaining = iter(items)
    while batch := list(islice(remaining, size)):
        yield batch
