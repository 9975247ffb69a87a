"""Shared by the commands of `discsum analyze`: options, models, tables, output files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from discsum.abstractive.families import DEFAULT, family_of
from discsum.abstractive.sparse.selectors import ALL
from discsum.cli.documents import Run
from discsum.cli.evaluate_checks import check_columns
from discsum.cli.options import SEQUENCE_MODEL, no_standard_input, selector_options
from discsum.cli.output_paths import local_folder
from discsum.cli.progress import loading
from discsum.errors import InputError
from discsum.files import replacing

if TYPE_CHECKING:
    from discsum.abstractive.summarizer import AbstractiveSummarizer
    from discsum.data.inputs import Item
    from discsum.data.pairs import Pair, PairSource
    from discsum.document import Document

Model = Annotated[str, typer.Option(help=SEQUENCE_MODEL)]
Out = Annotated[
    str,
    typer.Option(
        "--output",
        "-o",
        callback=local_folder,
        help="Folder for the numbers (JSON) and the plots (PNG, SVG), if the command draws any.",
    ),
]
Table = Annotated[
    str,
    typer.Argument(
        metavar="TABLE",
        callback=no_standard_input,
        help="A table of texts with summaries, or a folder that discsum preprocess made.",
    ),
]
Documents = Annotated[int, typer.Option(min=1, help="Maximum number of documents.")]


def load_model(
    model: str, selector: str | None = ALL, r: int | None = None, device: str = "cpu", **options: Any
) -> AbstractiveSummarizer:
    """Return a model with a selector; None keeps the selector that it was trained with.

    Raises:
        InputError: The model's family has no selectors.
    """
    from discsum.abstractive.summarizer import AbstractiveSummarizer

    family = family_of(model)
    if family != DEFAULT:
        raise InputError(f"{model}: expected a model with cross-attention to sentences, got one of the family {family}")
    return AbstractiveSummarizer.from_pretrained(model, selector=selector, r=r, device=device, **options)


def load_system(system: str, r: int, device: str) -> AbstractiveSummarizer:
    """Return the model that `MODEL[,SELECTOR[,KEY=VALUE...]]` names; `beta` is one of the keys.

    A selector that is named, unless it is `all`, selects `r` sentences.
    """
    model, *rest = system.split(",")
    selector = rest.pop(0) if rest and "=" not in rest[0] else None
    return load_model(model, selector, None if selector in (None, ALL) else r, device, **selector_options(rest))


def parsed_document(item: Item, parser: str, device: str, summarizer: AbstractiveSummarizer) -> Document:
    """Return the document of one text, parsed if it has no tree; warn if the model does not read all of it."""
    with loading("the parser"):
        from discsum.parsers.loading import load_parser
        from discsum.parsers.parsing import ensure_parsed

        document = ensure_parsed([item], lambda: load_parser(parser, device))[0].document
    summarizer.warn_truncated(summarizer.lengths([document], truncate=True))
    return document


def write_numbers(folder: str, name: str, data: Any) -> Path:
    """Write the numbers as JSON; return their path."""
    path = Path(folder) / f"{name}.json"
    with replacing(path) as partial:
        partial.write_text(json.dumps(data, ensure_ascii=False) + "\n", encoding="utf-8")
    typer.echo(str(path))
    return path


def read_table(source: PairSource, documents: int | None, run: Run) -> list[Pair]:
    """Return the first `documents` usable pairs of a table, or all if None.

    The run reports the rows before them that failed.
    """
    check_columns(source)
    from discsum.data.pairs import Pair

    found: list[Pair] = []
    for entry in source.pairs():
        if isinstance(entry, Pair):
            found.append(entry)
        else:
            run.fail(entry.source, entry.reason)
        if len(found) == documents:
            break
    if not found:
        raise InputError(f"{source.name}: expected texts with reference summaries, got none")
    run.done = len(found)
    return found
