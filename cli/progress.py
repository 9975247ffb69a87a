"""Progress of commands, shown on standard error, and only if that is a terminal."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress, Task


class Counter:
    """Shows the number of processed documents, the rate, and the elapsed or remaining time, if there is a bar."""

    def __init__(self, bar: Progress | None = None, verb: str = "done") -> None:
        """Update the first task of `bar`; `verb` says what happens to documents."""
        self.bar, self.verb = bar, verb
        self.whole = None if bar is None or bar.tasks[0].total is None else int(bar.tasks[0].total)
        self.found = 0

    def __call__(self, done: int) -> None:
        """Show the number of documents done, including those of an earlier run."""
        if self.bar is None:
            return
        task = self.bar.tasks[0]
        seconds, own = task.elapsed or 0.0, done - self.found
        rate = f", {own / seconds:.1f} a second" if own and seconds else ""
        of = "" if self.whole is None else f" of {self.whole}"
        self.bar.update(task.id, completed=own, text=f"{done}{of} documents {self.verb}{rate}")

    def skip(self, found: int) -> None:
        """Set the number of documents done by an earlier run; rate and remaining time exclude them."""
        self.found = found
        if self.bar is not None and self.whole is not None:
            self.bar.update(self.bar.tasks[0].id, total=max(0, self.whole - found))

    @contextmanager
    def hidden(self, wanted: bool) -> Iterator[None]:
        """Hide the bar while the block runs, so that the block can print results on the same terminal."""
        if self.bar is None or not wanted:
            yield
            return
        self.bar.stop()
        try:
            yield
        finally:
            self.bar.start()

    @contextmanager
    def saying(self, what: str) -> Iterator[None]:
        """Show `what` instead of the numbers while the block runs."""
        if self.bar is None:
            yield
            return
        task = self.bar.tasks[0]
        before = task.fields["text"]
        # At once: what takes less time than the bar's next refresh would not be shown.
        self.bar.update(task.id, text=what, refresh=True)
        try:
            yield
        finally:
            self.bar.update(task.id, text=before)
            if not task.completed:
                # Loading takes no part in the rate.
                self.bar.reset(task.id)


# The bar on the terminal, while there is one.
_shown: list[Counter] = []


@contextmanager
def counting(verb: str, total: int | None = None) -> Iterator[Counter]:
    """Yield a counter of processed documents; it shows nothing unless standard error is a terminal that can redraw."""
    if not can_redraw():
        yield Counter()
        return
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn
    from rich.text import Text

    class Remaining(TimeRemainingColumn):
        """The remaining time, once it is known."""

        def render(self, task: Task) -> Text:
            return Text() if task.time_remaining is None else super().render(task) + Text(" left")

    time_column = TimeElapsedColumn() if total is None else Remaining()
    columns = SpinnerColumn(), TextColumn("{task.fields[text]}", markup=False), time_column
    with Progress(*columns, console=_console(), transient=True) as progress:
        progress.add_task(verb, total=total, text="")
        counter = Counter(progress, verb)
        counter(0)
        _shown.append(counter)
        try:
            yield counter
        finally:
            _shown.pop()


@contextmanager
def loading(what: str) -> Iterator[None]:
    """Show `loading WHAT` on a terminal while the block runs, in the bar if there is one.

    Loading a model takes seconds, most of them for importing torch.
    """
    if not can_redraw():
        yield
        return
    if _shown:
        with _shown[-1].saying(f"loading {what}"):
            yield
        return
    from rich.text import Text

    with _console().status(Text(f"loading {what}")):
        yield


def can_redraw() -> bool:
    """Return whether standard error is a terminal that can redraw a line."""
    return sys.stderr.isatty() and os.environ.get("TERM") != "dumb"


def say(line: str) -> None:
    """Print a line on standard error, above the bar if there is one.

    Rich moves what is written to `sys.stderr` above its bar; `typer.echo` would bypass that.
    """
    sys.stderr.write(f"{line}\n")
    sys.stderr.flush()


def _console() -> Console:
    """Return the console of standard error; it does not wrap lines printed above its bar."""
    from rich.console import Console

    return Console(stderr=True, soft_wrap=True)


def reporter(*, err: bool = False) -> Callable[[str], None]:
    """Return a function that prints log lines, with `err` on standard error.

    Lines that end in a carriage return show progress: they are printed at most once a second, and only where
    `can_redraw`.
    """
    shown = 0.0

    def report(line: str) -> None:
        nonlocal shown
        if not line.endswith("\r"):
            typer.echo(line, err=err)
        elif can_redraw() and time.monotonic() - shown >= 1.0:
            shown = time.monotonic()
            typer.echo("\x1b[2K" + line, err=True, nl=False)

    return report
