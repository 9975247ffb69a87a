"""Options that several commands have."""

from __future__ import annotations

from typing import Annotated

import typer

Inputs = Annotated[
    list[str],
    typer.Argument(
        metavar="INPUT...",
        help="Text files, folders, - for standard input, .jsonl, .csv or .parquet tables, or trees "
        "(.rs3 .rs4 .dis .rsd .json).",
        show_default=False,
    ),
]
Output = Annotated[
    str | None,
    typer.Option("--output", "-o", help="A file, or a folder for one file a document. Default: standard output."),
]
Encoding = Annotated[str, typer.Option(help="Encoding of text files and tables.")]
TextColumn = Annotated[
    str | None, typer.Option(help="Column of a table that holds the text. Default: article or text.")
]
Sentences = Annotated[
    str, typer.Option(metavar="model|nltk|newline", help="Where sentences come from: the parser, NLTK, or one a line.")
]
ParserName = Annotated[str, typer.Option("--parser", help="A shipped parser or the folder of one.")]
