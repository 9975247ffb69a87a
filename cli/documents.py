"""Batches, failures and exit codes of commands that process documents."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TypeVar

import typer

from discsum.batches import batches, failing_alone
from discsum.cli.progress import Counter, say
from discsum.cli.writer import Writer
from discsum.data.failures import Failure
from discsum.data.inputs import Item
from discsum.errors import DiscsumError, OutputError, message_of

# Exit codes; wrong usage exits with 2.
FAILED, SOME_FAILED = 1, 3
BATCH = 8
T = TypeVar("T")


@dataclass
class Run:
    """Counts processed, skipped and failed documents, and exits with the documented code."""

    done: int = 0
    # Documents that an earlier run wrote.
    skipped: int = 0
    failed: list[Failure] = field(default_factory=list)

    def fail(self, source: str, reason: str) -> None:
        """Report a document that failed."""
        failure = Failure(source, reason)
        self.failed.append(failure)
        say(f"discsum: {failure}")

    @contextmanager
    def guard(self, item: Item) -> Iterator[None]:
        """Count the document as done, or as failed if the block raises a `DiscsumError` or `OSError`."""
        try:
            yield
        except (BrokenPipeError, OutputError):
            raise
        except (DiscsumError, OSError) as error:
            self.fail(item.source, message_of(error))
        else:
            self.done += 1

    def show(self, counter: Counter) -> None:
        """Show how far the run is."""
        counter.skip(self.skipped)
        counter(self.skipped + self.done + len(self.failed))

    def finish(self) -> None:
        """Exit with 0, or 3 if some documents failed, or 1 if all did."""
        counts = {"failed": len(self.failed), "done": self.done, "skipped (already written)": self.skipped}
        if self.skipped or (self.failed and self.done):
            shown = (f"{count} {what}" for what, count in counts.items() if count)
            say(f"discsum: {', '.join(shown)}")
        if self.failed:
            raise typer.Exit(SOME_FAILED if self.done or self.skipped else FAILED)


def unwritten(entries: Iterable[Item | Failure], writer: Writer, run: Run) -> Iterator[Item | Failure]:
    """Yield the documents whose results an earlier run did not write, and count the others as skipped."""
    for entry in entries:
        if isinstance(entry, Item) and writer.has(entry):
            run.skipped += 1
        else:
            yield entry


def in_batches(
    entries: Iterable[Item | Failure],
    load: Callable[[Sequence[Item]], Callable[[Sequence[Item]], Sequence[T]]],
    run: Run,
    size: int = BATCH,
) -> Iterator[tuple[Item, T]]:
    """Yield each document with its result, in order. A document that fails does not fail its batch.

    `load` takes the first batch and returns the function that processes batches. It is called only once there is a
    document, so that unreadable inputs are reported before models are loaded.
    """
    work: Callable[[Sequence[Item]], Sequence[T]] | None = None
    for batch in batches(entries, size):
        items = []
        for entry in batch:
            if isinstance(entry, Failure):
                run.fail(entry.source, entry.reason)
            else:
                items.append(entry)
        if not items:
            continue
        work = work or load(items)
        for item, result in zip(items, failing_alone(work, items), strict=True):
            if isinstance(result, DiscsumError):
                run.fail(item.source, str(result))
            else:
                yield item, result
