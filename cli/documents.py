"""Shared by commands on documents: batches, failures, output files, exit codes."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from itertools import chain, islice
from pathlib import Path
from typing import IO, Any, Protocol, TypeVar

import typer

from discsum.batches import batches, failing_alone
from discsum.cli.progress import counting
from discsum.data.inputs import Item
from discsum.data.tables import TABLES, Failure
from discsum.errors import DiscsumError, InputError
from discsum.files import replacing, to_line
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
    """Counts processed and failed documents, and exits with the documented code."""

    done: int = 0
    failed: list[Failure] = field(default_factory=list)

    def fail(self, source: str, reason: str) -> None:
        """Report a document that failed."""
        failure = Failure(source, reason)
        self.failed.append(failure)
        typer.echo(f"discsum: {failure}", err=True)

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

    def finish(self) -> None:
        """Exit with 0, or 3 if some documents failed, or 1 if all did."""
        if self.failed:
            if self.done:
                typer.echo(f"discsum: {len(self.failed)} failed, {self.done} done", err=True)
            raise typer.Exit(SOME_FAILED if self.done else FAILED)


def in_batches(
    entries: Iterable[Item | Failure], work: Callable[[Sequence[Item]], Sequence[T]], run: Run, size: int = BATCH
) -> Iterator[tuple[Item, T]]:
    """Yield each document with its result, in order; they are processed in batches, and each fails alone."""
    for batch in batches(entries, size):
        items = []
        for entry in batch:
            if isinstance(entry, Failure):
                run.fail(entry.source, entry.reason)
            else:
                items.append(entry)
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


def is_single(inputs: Sequence[str]) -> bool:
    """Return whether the inputs are certainly one document: a file that is not a table, or standard input."""
    path = Path(inputs[0])
    return len(inputs) == 1 and not path.is_dir() and not path.name.lower().endswith(TABLES)


def one_document(inputs: Sequence[str], entries: Iterator[Item | Failure]) -> tuple[bool, Iterator[Item | Failure]]:
    """Return whether the inputs are one document, and the entries; a dis file, which may hold several, is read."""
    if not is_single(inputs):
        return False, entries
    first = list(islice(entries, 2))
    return len(first) == 1, chain(first, entries)


class Writer:
    """Writes results to standard output, to one file, or to a folder with one file per document."""

    def __init__(self, output: str | None, suffix: str, *, one_file: bool) -> None:
        """Write to `output`.

        Args:
            output: None or `-` for standard output; a path with a suffix is a file if `one_file`, unless it is a folder
                or ends with a slash; other paths are folders.
            suffix: Suffix of the files in a folder.
            one_file: Whether one file may hold all results.
        """
        self.suffix = suffix
        self.folder: Path | None = None
        self.file: Path | None = None
        self._names: dict[str, str] = {}
        self._stack = ExitStack()
        self._stream: IO[bytes] | None = None
        if output is None or output == "-":
            self._stream = sys.stdout.buffer
            return
        path = Path(output)
        if one_file and path.suffix and not path.is_dir() and not output.endswith("/"):
            self.file = path
        else:
            self.folder = path

    def __enter__(self) -> Writer:
        """Return the writer; a single output file appears when the block ends without an error."""
        return self

    def __exit__(self, *error: Any) -> None:
        """Rename the single output file into place, if anything was written."""
        self._stack.__exit__(*error)

    def write(self, item: Item, text: str) -> None:
        """Write one result; a file is renamed into place when it is complete."""
        content = text.encode("utf-8", "replace")
        if self.folder is not None:
            with replacing(self.folder / self._name(item)) as path:
                path.write_bytes(content)
            return
        if self._stream is None:
            assert self.file is not None, "without a file the stream is standard output"
            self._stream = self._stack.enter_context(self._stack.enter_context(replacing(self.file)).open("wb"))
        self._stream.write(content)
        self._stream.flush()

    def _name(self, item: Item) -> str:
        stem = re.sub(r"[^\w\-. ]", "_", item.id).strip(". ") or "document"
        if self._names.setdefault(stem, item.source) != item.source:
            raise InputError(f"{item.source}: expected a name of its own, {self._names[stem]} is {stem!r} too")
        return stem + self.suffix


def write_summaries(
    inputs: Sequence[str],
    entries: Iterator[Item | Failure],
    work: Callable[[Sequence[Item]], Sequence[Summarized]],
    text_of: Callable[[Summarized], str],
    output: str | None,
    json: bool,
    batch_size: int = BATCH,
) -> None:
    """Write the summary of each document as soon as it is ready, and end like `Run.finish`.

    Args:
        inputs: Arguments of the command line; a single document is written without a heading.
        entries: The documents.
        work: Returns the summaries of documents.
        text_of: Returns the text of a summary, for output without `json`.
        output: As for `Writer`.
        json: Whether to write JSON.
        batch_size: Documents that `work` receives together.
    """
    run = Run()
    single, entries = one_document(inputs, entries)
    with Writer(output, ".json" if json else ".txt", one_file=True) as writer, counting("summarized") as show:
        for item, summary in in_batches(entries, work, run, batch_size):
            with run.guard(item):
                if json:
                    text = to_line(summary.to_json(), pretty=single)
                else:
                    text = text_of(summary)
                    text = text + "\n" if single or writer.folder else f"== {item.id}\n{text}\n"
                writer.write(item, text)
            show(run.done)
    run.finish()
