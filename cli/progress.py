"""Progress of commands: on standard error, on a terminal only."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from rich.progress import Progress


class Counter:
    """Shows the number of processed documents, the rate, and the elapsed or remaining time, if there is a bar."""

    def __init__(self, bar: Progress | None = None) -> None:
        """Update the first task of `bar`."""
        self.bar = bar
        self.total = bar.tasks[0].total if bar else None
        self.found = 0

    def __call__(self, done: int) -> None:
        """Take the number of documents done, including those of an earlier run."""
        if self.bar is None:
            return
        task = self.bar.tasks[0]
        seconds, own = task.elapsed or 0.0, done - self.found
        rate = f"{own / seconds:.1f}" if seconds else "?"
        self.bar.update(task.id, completed=own, done=done, rate=rate)

    def skip(self, found: int) -> None:
        """Take the number of documents done by an earlier run, which rate and remaining time exclude."""
        self.found = found
        if self.bar is not None and self.total is not None:
            self.bar.update(self.bar.tasks[0].id, total=max(0.0, self.total - found))


@contextmanager
def counting(verb: str, total: int | None = None) -> Iterator[Counter]:
    """Yield a counter of processed documents; it shows nothing unless standard error is a terminal."""
    if not sys.stderr.isatty():
        yield Counter()
        return
    from rich.console import Console
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn

    of = "" if total is None else f" of {total}"
    columns = (
        SpinnerColumn(),
        TextColumn(f"{{task.fields[done]}}{of} documents {verb}, {{task.fields[rate]}} a second"),
        TimeElapsedColumn() if total is None else TimeRemainingColumn(),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        progress.add_task(verb, total=total, done=0, rate="?")
        yield Counter(progress)


def reporter() -> Callable[[str], None]:
    """Return a printer of log lines; those that end in a carriage return appear once a second, on a terminal only."""
    shown = 0.0

    def report(line: str) -> None:
        nonlocal shown
        if not line.endswith("\r"):
            typer.echo(line)
        elif sys.stderr.isatty() and time.monotonic() - shown >= 1.0:
            shown = time.monotonic()
            typer.echo("\x1b[2K" + line, err=True, nl=False)

    return report
