"""Progress on standard error, on a terminal only."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def counting(verb: str, total: int | None = None) -> Iterator[Callable[[int], None]]:
    """Yield a function that takes how many documents are done; it shows them, their rate, and the time gone or left.

    It does nothing where standard error is no terminal.
    """
    if not sys.stderr.isatty():
        yield lambda done: None
        return
    from rich.console import Console
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn

    of = "" if total is None else f" of {total}"
    columns = (
        SpinnerColumn(),
        TextColumn(f"{{task.completed}}{of} documents {verb}, {{task.fields[rate]}} a second"),
        TimeElapsedColumn() if total is None else TimeRemainingColumn(),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task(verb, total=total, rate="?")

        def show(done: int) -> None:
            seconds = progress.tasks[0].elapsed or 0.0
            progress.update(task, completed=done, rate=f"{done / seconds:.1f}" if seconds else "?")

        yield show
