"""Shared by commands on documents: batches, failures, exit codes, summaries."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import chain, islice
from pathlib import Path
from typing import Any, Protocol, TypeVar

import typer

from discsum.batches import batches, failing_alone
from discsum.cli.progress import Counter, counting, say
from discsum.cli.writer import Writer, is_single
from discsum.data.inputs import Item, count_inputs
from discsum.data.tables import Failure
from discsum.errors import DiscsumError
from discsum.files import to_line
from discsum.format_registry import suffixes
from discsum.registry import suggestion

FAILED, SOME_FAILED = 1, 3
BATCH = 8
T = TypeVar("T")


class HasJson(Protocol):
    """A summary of any kind."""

    def to_json(self) -> dict[str, Any]:
        """Return a JSON object."""


Summarized = TypeVar("Summarized", bound=HasJson)


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
        except BrokenPipeError:
            raise
        except (DiscsumError, OSError) as error:
            self.fail(item.source, str(error))
        else:
            self.done += 1

    def show(self, counter: Counter) -> None:
        """Show how far the run is."""
        counter.skip(self.skipped)
        counter(self.skipped + self.done + len(self.failed))

    def finish(self) -> None:
        """Exit with 0, or 3 if some documents failed, or 1 if all did."""
        counts = {"failed": len(self.failed), "done": self.done, "skipped, written before": self.skipped}
        if self.skipped or (self.failed and self.done):
            shown = (f"{count} {what}" for what, count in counts.items() if count)
            typer.echo(f"discsum: {', '.join(shown)}", err=True)
        if self.failed:
            raise typer.Exit(SOME_FAILED if self.done or self.skipped else FAILED)


def unwritten(entries: Iterable[Item | Failure], writer: Writer, run: Run) -> Iterator[Item | Failure]:
    """Yield the documents whose results an earlier run did not write, and count the others."""
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
    """Yield each document with its result, in order; they are processed in batches, and each fails alone.

    `load` takes the first batch and returns what processes batches. It is called once there is a document, so that
    inputs that cannot be read are told before models are loaded.
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


def check_choice(option: str, value: str, choices: Sequence[str]) -> None:
    """Raise `BadParameter` unless the value of the option is one of the choices."""
    if value not in choices:
        expected = f"expected one of {', '.join(choices)}, got {value!r}{suggestion(value, choices)}"
        raise typer.BadParameter(expected, param_hint=option)


def count_shown(inputs: Sequence[str]) -> int | None:
    """Return the number of documents where it is shown, on a terminal, and cheap to know."""
    return count_inputs(inputs) if sys.stderr.isatty() else None


def one_document(inputs: Sequence[str], entries: Iterator[Item | Failure]) -> tuple[bool, Iterator[Item | Failure]]:
    """Return whether the inputs are one document, and the entries; a tree file, which may hold several, is read."""
    if not is_single(inputs) or Path(inputs[0]).suffix.lower() not in suffixes():
        return is_single(inputs), entries
    first = list(islice(entries, 2))
    return len(first) == 1, chain(first, entries)


def summary_writer(
    inputs: Sequence[str],
    single: bool,
    output: str | None,
    json: bool,
    *,
    resume: bool = False,
    fields: Mapping[str, object] | None = None,
) -> Writer:
    """Return the writer of one or several summaries; wrong outputs are told as `Writer` does."""
    suffix, lines = ".json" if json else ".txt", json and not single
    return Writer(inputs, output, suffix, one_file=True, lines=lines, resume=resume, fields=fields)


def write_summaries(
    inputs: Sequence[str],
    single: bool,
    entries: Iterator[Item | Failure],
    load: Callable[[Sequence[Item]], Callable[[Sequence[Item]], Sequence[Summarized]]],
    text_of: Callable[[Summarized], str],
    writer: Writer,
    json: bool,
    batch_size: int = BATCH,
    beside: Callable[[Item, Summarized], None] | None = None,
) -> None:
    """Write the summary of each document as soon as it is ready, and end like `Run.finish`.

    Args:
        inputs: Arguments of the command line.
        single: Whether they are one document, which is written without a heading.
        entries: The documents.
        load: Takes the first documents, loads the model, and returns what summarizes documents.
        text_of: Returns the text of a summary, for output without `json`.
        writer: From `summary_writer`.
        json: Whether to write JSON.
        batch_size: Documents that are summarized together.
        beside: Writes something else of a summary as well, after it.
    """
    run = Run()
    with writer, counting("summarized", count_shown(inputs)) as show:
        for item, summary in in_batches(unwritten(entries, writer, run), load, run, batch_size):
            with run.guard(item), show.hidden(writer.on_terminal):
                if json:
                    text = to_line(summary.to_json(), pretty=single)
                else:
                    text = text_of(summary)
                    text = text + "\n" if single or writer.folder else f"== {item.id}\n{text}\n"
                writer.write(item, text)
                if beside is not None:
                    beside(item, summary)
            run.show(show)
    run.finish()
