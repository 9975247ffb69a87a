"""Progress of commands: on standard error, on a terminal only."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from rich.progress import Progress


class Counter:
    """Shows how many documents are done, their rate, and the time gone or left, on a bar if there is one."""

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
        """Take the number of documents done by an earlier run, which rate and time left exclude."""
        self.found = found
        if self.bar is not None and self.total is not None:
            self.bar.update(self.bar.tasks[0].id, total=max(0.0, self.total - found))


@contextmanager
def counting(verb: str, total: int | None = None) -> Iterator[Counter]:
    """Yield a function that takes how many documents are done; it shows them, their rate, and the time gone or left.

    It does nothing where standard error is no terminal.
    """
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
    """Return what prints lines of the log; those that end in a carriage return once a second, on a terminal only."""
    shown = 0.0

    def report(line: str) -> None:
        nonlocal shown
        if not line.endswith("\r"):
            typer.echo(line)
        elif sys.stderr.isatty() and time.monotonic() - shown >= 1.0:
            shown = time.monotonic()
            typer.echo("\x1b[2K" + line, err=True, nl=False)

    return report


def quiet() -> None:
    """Keep transformers' bars and reports off standard error; what concerns the user is reported here."""
    # For worker processes, which inherit them.
    os.environ |= {"HF_HUB_DISABLE_PROGRESS_BARS": "1", "TRANSFORMERS_VERBOSITY": "error"}
    from transformers.utils import logging

    logging.disable_progress_bar()  # type: ignore[no-untyped-call]
    logging.set_verbosity_error()  # type: ignore[no-untyped-call]
