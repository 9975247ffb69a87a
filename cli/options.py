"""Options that several commands have."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

import typer

from discsum.abstractive.sparse.selectors import SELECTORS
from discsum.constants import SENTENCES
from discsum.errors import InputError
from discsum.format_registry import readable


def _known_encoding(name: str) -> str:
    try:
        "text".encode(name)
    except LookupError as error:
        raise typer.BadParameter(f"expected the name of a text encoding, got {name!r}") from error
    return name


Inputs = Annotated[
    list[str],
    typer.Argument(
        metavar="INPUT",
        help="Text files, folders, - for standard input, .jsonl(.gz), .csv or .parquet tables, or trees "
        f"({' '.join(f'.{name}' for name in readable(installed=False))}).",
        show_default=False,
    ),
]
Output = Annotated[
    str | None,
    typer.Option(
        "--output",
        "-o",
        help="A file, or a folder (any path without an ending) for one file a document. Default: standard output.",
    ),
]
Encoding = Annotated[str, typer.Option(callback=_known_encoding, help="Encoding of text files and tables.")]
TextColumn = Annotated[
    str | None, typer.Option(help="Column of a table that holds the text. Default: article or text.")
]
Sentences = Annotated[
    str, typer.Option(metavar="|".join(SENTENCES), help="Where sentences come from: the parser, NLTK, or one a line.")
]
ParserName = Annotated[str, typer.Option("--parser", help="A shipped parser or the folder of one.")]
# How abstractive summaries are generated.
Selector = Annotated[
    str | None,
    typer.Option(
        help=f"Which sentences a step reads: all of them, or those of {', '.join(SELECTORS.own)}. "
        "Default: as the model was trained, or all."
    ),
]
ReadSentences = Annotated[
    int | None,
    typer.Option(
        "--r",
        min=1,
        help="How many of them. A document of fewer than 3.5 * (r + 2) sentences, 42 for --r 10, is read whole, "
        "because that is faster. Default: as the model was trained, or all.",
    ),
]
Beams = Annotated[int, typer.Option(min=1, help="Beams of the search.")]
MinTokens = Annotated[int | None, typer.Option(min=1, help="Tokens of the summary, at least.")]
MaxTokens = Annotated[int | None, typer.Option(min=1, help="Tokens of the summary, at most.")]
Truncate = Annotated[bool, typer.Option("--truncate", help="Cut texts that are longer than what the model reads.")]

# What has switches of its own.
NO_OPTIONS = ("name_or_path", "selector", "r", "share_beams", "device", "untrained")


def selector_options(given: Sequence[str], taken: Sequence[str] = NO_OPTIONS) -> dict[str, Any]:
    """Return the options of a selector out of `key=value` entries, the values as YAML has them.

    Raises:
        InputError: An entry of another form, or one of those that are `taken`.
    """
    import yaml

    found = {}
    for entry in given:
        key, equals, value = entry.partition("=")
        if not equals or not key:
            raise InputError(f"expected an option of a selector as key=value, got {entry!r}")
        if key.strip() in taken:
            raise InputError(f"expected an option of the selector itself, got {key.strip()!r}, which is none")
        found[key.strip()] = yaml.safe_load(value)
    return found
