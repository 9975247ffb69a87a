"""Read the documents of a command line, process them in batches, and write the results one by one."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path
from typing import Any, Protocol, TypeVar

import typer

from discsum.cli.documents import BATCH, Run, in_batches, unwritten
from discsum.cli.progress import can_redraw, counting, say
from discsum.cli.writer import Writer
from discsum.constants import PARSER_KIND
from discsum.data.failures import Failure
from discsum.data.input_source import InputSource
from discsum.data.inputs import Item
from discsum.data.listings import is_several
from discsum.data.storage import location
from discsum.data.tables import is_table
from discsum.errors import InputError, WeightsError
from discsum.files import to_line
from discsum.format_registry import suffixes
from discsum.persistence import read_config

T = TypeVar("T")


class HasJson(Protocol):
    """A summary of any kind."""

    def to_json(self) -> dict[str, Any]:
        """Return a JSON object."""


Summarized = TypeVar("Summarized", bound=HasJson)


def _is_no_table(name: str) -> bool:
    """Return whether an input is certainly a text: standard input, or a local file other than a table."""
    if name == "-":
        return True
    try:
        place = location(name)
        return isinstance(place, Path) and place.is_file() and not is_table(place)
    except (InputError, OSError):
        # Reported when the input is read.
        return False


@dataclass(frozen=True)
class CheckedSource(InputSource):
    """An `InputSource` that warns once if an input is already parsed, so that options of parsing are ignored.

    Attributes:
        sentences: The value of `--sentences`.
        edus: The value of `--edus`.
        parser: The value of `--parser`, if it was given and the parser is only needed for trees.

    Raises:
        BadParameter: A `text_column`, but only local files that are not tables.
    """

    sentences: str = "model"
    edus: str = "model"
    parser: str | None = None

    def __post_init__(self) -> None:
        """Check that the column can be in one of the inputs."""
        if self.text_column and all(map(_is_no_table, self.inputs)):
            raise typer.BadParameter(f"expected a table, got {self.inputs[0]}", param_hint="--text-column")

    def items(self) -> Iterator[Item | Failure]:
        """Yield the documents. Of tables that workers read, the driver reads and checks only the first document."""
        noted = False
        for entry in super().items():
            if not noted and isinstance(entry, Item) and entry.document is not None:
                there = {
                    f"--sentences {self.sentences}": self.sentences != "model" and bool(entry.document.sentences),
                    f"--edus {self.edus}": self.edus != "model" and bool(entry.document.edus),
                    f"--parser {self.parser}": self.parser is not None
                    and entry.document.tree is not None
                    and entry.document.parser != _name_of(self.parser),
                }
                if ignored := [option for option, has in there.items() if has]:
                    noted = True
                    say(
                        f"discsum: {entry.source}: expected a text for {' and '.join(ignored)}, got a tree or a parsed "
                        "text, which keeps its own units and tree, as do all other such inputs"
                    )
            yield entry


def _name_of(parser: str) -> str:
    """Return the name that a parser gives to its trees; what was given if there is no such parser."""
    try:
        return str(read_config(parser, PARSER_KIND)["name"])
    except WeightsError:
        return parser


@dataclass(frozen=True)
class Job:
    """The documents that a command line names.

    Attributes:
        source: The inputs.
        single: Whether they are one document, which is written without a heading.
        entries: The documents, and failures for what cannot be read.
    """

    source: InputSource
    single: bool
    entries: Iterator[Item | Failure]

    @classmethod
    def of(cls, source: InputSource) -> Job:
        """Return the job of a source. A single tree file may hold several documents, so its first two are read."""
        inputs, entries = source.inputs, source.items()
        path = location(inputs[0])
        single = len(inputs) == 1 and not is_several(path) and not is_table(path)
        if single and path.suffix.lower() in suffixes():
            first = list(islice(entries, 2))
            single, entries = len(first) == 1, chain(first, entries)
        return cls(source, single, entries)

    def process(
        self,
        verb: str,
        load: Callable[[Sequence[Item]], Callable[[Sequence[Item]], Sequence[T]]],
        writer: Writer,
        write: Callable[[Item, T], None],
        batch_size: int = BATCH,
    ) -> None:
        """Process the documents in batches, write each result as soon as it is ready, and end like `Run.finish`.

        Args:
            verb: What happens to documents, such as `parsed`, for the progress bar.
            load: Takes the first documents, loads the models, and returns the function that processes documents.
            writer: Where `write` writes to; documents that it already has are skipped.
            write: Writes one document's result.
            batch_size: Number of documents processed together.
        """
        run = Run()
        # Only the progress bar on a terminal shows the number of documents.
        count = self.source.count() if can_redraw() else None
        with writer, counting(verb, count) as progress:
            for item, result in in_batches(unwritten(self.entries, writer, run), load, run, batch_size):
                with run.guard(item), progress.hidden(writer.on_terminal):
                    write(item, result)
                run.show(progress)
            if not (run.done or run.skipped or run.failed):
                writer.write_nothing()
        run.finish()


def write_summaries(
    job: Job,
    load: Callable[[Sequence[Item]], Callable[[Sequence[Item]], Sequence[Summarized]]],
    writer: Writer,
    text_of: Callable[[Summarized], str],
    json: bool,
    batch_size: int = BATCH,
    write_page: Callable[[Item, Summarized], None] | None = None,
) -> None:
    """Write the summary of each document: its JSON object, or what `text_of` returns, and its page."""

    def write(item: Item, summary: Summarized) -> None:
        if json:
            text = to_line(writer.with_resume_fields(summary.to_json(), item.text), pretty=not writer.lines)
        else:
            text = text_of(summary)
            text = text + "\n" if job.single or writer.folder else f"== {item.id}\n{text}\n"
        writer.write(item, text)
        if write_page is not None:
            write_page(item, summary)

    job.process("summarized", load, writer, write, batch_size)
