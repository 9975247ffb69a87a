"""What commands say of their progress: on standard error, on a terminal only."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import typer


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
    from transformers.utils import logging

    logging.disable_progress_bar()  # type: ignore[no-untyped-call]
    logging.set_verbosity_error()  # type: ignore[no-untyped-call]
