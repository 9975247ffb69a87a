"""Progress on standard error, on a terminal only."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from typing import TypeVar

T = TypeVar("T")


def counting(entries: Iterable[T], verb: str) -> Iterator[T]:
    """Yield the entries and show how many were taken, and at what rate; silent where standard error is no terminal."""
    if not sys.stderr.isatty():
        yield from entries
        return
    from rich.console import Console
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    columns = (SpinnerColumn(), TextColumn("{task.completed} documents {task.description}"), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task(verb, total=None)
        for entry in entries:
            yield entry
            progress.advance(task)
