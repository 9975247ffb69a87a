"""Batches of items, and work on a batch in which single items may fail."""

from __future__ import annotations

import sys
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from concurrent.futures import ThreadPoolExecutor
from itertools import chain, islice, repeat, zip_longest
from numbers import Integral
from typing import Any, TypeVar

from discsum.errors import DiscsumError, InputError, MissingExtraError, WeightsError

T = TypeVar("T")
R = TypeVar("R")


def batches(items: Iterable[T], size: int) -> Iterator[list[T]]:
    """Return lists of `size` items lazily and in order, like Python 3.12's `itertools.batched`.

    Raises:
        InputError: A size below 1; raised at once.
        TypeError: A string where several texts are expected; raised at once too.
    """
    check_several(items)
    if isinstance(size, bool) or not isinstance(size, Integral) or size < 1:
        raise InputError(f"batch_size: expected a whole number of at least 1, got {size!r}")
    return _batches(iter(items), min(int(size), sys.maxsize))


def _batches(remaining: Iterator[T], size: int) -> Iterator[list[T]]:
    while True:
        batch: list[T] = []
        try:
            batch.extend(islice(remaining, size))
        except Exception:
            # The items before the one that fails are not lost.
            if batch:
                yield batch
            raise
        if not batch:
            return
        yield batch


def packed(items: Iterable[T], size: Callable[[T], int], most: int) -> Iterator[list[T]]:
    """Yield groups of consecutive items, each with a total size of at most `most`, or of a single larger item."""
    group: list[T] = []
    room = most
    for item in items:
        if group and size(item) > room:
            yield group
            group, room = [], most
        group.append(item)
        room -= size(item)
    if group:
        yield group


def named(
    texts: Iterable[T], ids: Iterable[str | int] | None, kinds: tuple[type, ...] = (str,), remedy: str = ""
) -> Iterator[tuple[T, str]]:
    """Yield each text with its name, which is empty if there are no `ids`; whole numbers become names.

    Raises:
        InputError: More or fewer names than texts.
        TypeError: A single text instead of several, or a text of none of the `kinds`; the latter ends with `remedy`.
    """
    check_several(texts)
    if isinstance(ids, str):
        raise TypeError(f"ids: expected several names, got one str {ids!r}")
    lacking: Any = object()
    pairs: Iterable[tuple[Any, Any]]
    pairs = zip(texts, repeat(""), strict=False) if ids is None else zip_longest(texts, ids, fillvalue=lacking)
    for count, (text, name) in enumerate(pairs):
        if text is lacking or name is lacking:
            found = f"only {count} names" if name is lacking else f"more names than the {count} texts"
            raise InputError(f"ids: expected a name for each text, got {found}")
        if isinstance(name, bool) or not isinstance(name, (str, Integral)):
            raise TypeError(f"id: expected str, got {name!r}")
        check_kind(f"text {name or count}", text, kinds, remedy)
        yield text, str(name)


def check_kind(what: str, value: object, kinds: tuple[type, ...], remedy: str = "") -> None:
    """Raise `TypeError` for a value of none of the `kinds`; the message begins with `what` and ends with `remedy`."""
    if not isinstance(value, kinds):
        wanted = " or ".join(kind.__name__ for kind in kinds)
        raise TypeError(f"{what}: expected {wanted}, got {type(value).__name__}{remedy}")


def check_several(texts: object, what: str = "texts") -> None:
    """Raise `TypeError` for a single text instead of several, for names instead of texts, and for sets."""
    kind = type(texts).__name__
    if isinstance(texts, Mapping) or hasattr(texts, "columns"):
        raise TypeError(
            f"{what}: expected several {what}, got a {kind}, which iterates over its keys or columns; "
            "name the texts in it, as in texts.values() or table['text']"
        )
    if isinstance(texts, Set):
        raise TypeError(f"{what}: expected several {what} in order, got a {kind}; sort it, or use a list")
    if isinstance(texts, str) or not (isinstance(texts, Iterable) or hasattr(texts, "__getitem__")):
        raise TypeError(f"{what}: expected several {what}, got one {kind}")


def ahead(items: Iterable[T]) -> Iterator[T]:
    """Yield the items in order; a thread computes the next one while the caller works on the current one."""
    remaining, end = iter(items), object()
    with ThreadPoolExecutor(max_workers=1) as thread:
        coming = thread.submit(next, remaining, end)
        while (item := coming.result()) is not end:
            coming = thread.submit(next, remaining, end)
            yield item  # type: ignore[misc]


def map_ahead(function: Callable[[T], R], items: Iterable[T], count: int) -> Iterator[R]:
    """Yield `function(item)` for each item, in order; `count` threads compute the next results while the caller works.

    An error of `function` is raised where its result would be. With a count of 0 the results are computed when they are
    needed.
    """
    if not count:
        yield from map(function, items)
        return
    remaining, threads = iter(items), ThreadPoolExecutor(count)
    try:
        coming = deque(threads.submit(function, item) for item in islice(remaining, count))
        while coming:
            found = coming.popleft().result()
            coming.extend(threads.submit(function, item) for item in islice(remaining, 1))
            yield found
    finally:
        threads.shutdown(cancel_futures=True)


def failing_alone(work: Callable[[Sequence[T]], Sequence[R]], items: Sequence[T]) -> Iterator[R | DiscsumError]:
    """Yield the result of each item, in order, or the error of an item that fails.

    All items are processed together; if that raises, one by one.

    Raises:
        WeightsError: A model that cannot be used: all items would fail the same way.
        MissingExtraError: A missing dependency, likewise.
    """
    try:
        results: Iterable[R | DiscsumError] = work(items) if items else []
    except (WeightsError, MissingExtraError):
        raise
    except DiscsumError as error:
        alone = (failing_alone(work, [item]) for item in items)
        results = [error] if len(items) == 1 else chain.from_iterable(alone)
    yield from results
