"""`discsum preprocess`: texts with summaries to a dataset folder."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from discsum.cli.documents import FAILED, SOME_FAILED, check_choice
from discsum.cli.options import ParserName, TextColumn
from discsum.cli.progress import counting, quiet
from discsum.constants import SHIPPED_PARSER, UNITS
from discsum.oracles import ORACLES


def preprocess(
    table: Annotated[
        str,
        typer.Argument(
            metavar="INPUT",
            help="A .jsonl(.gz), .csv or .parquet table, a folder that the library datasets saved, or "
            "hf:NAME[:CONFIG[:SPLIT]] for a dataset of the Hugging Face hub.",
            show_default=False,
        ),
    ],
    folder: Annotated[str, typer.Argument(metavar="OUT", help="Folder of the dataset.", show_default=False)],
    parser: ParserName = SHIPPED_PARSER,
    oracle: Annotated[
        str, typer.Option(metavar="|".join([*ORACLES.own, "none"]), help="Who labels the units, if anyone.")
    ] = "rouge12-f",
    oracle_units: Annotated[
        int | None, typer.Option(help="Units that it may take, at most. Default: as its paper.")
    ] = None,
    unit: Annotated[str, typer.Option(metavar="sentence|edu|both", help="What is labelled and encoded.")] = "both",
    encoder: Annotated[
        str,
        typer.Option(
            help="Unit vectors: none; contextual, discourse or isolated, by the parser's encoder; or the name or "
            "folder of a Hugging Face encoder."
        ),
    ] = "none",
    tree: Annotated[
        bool, typer.Option("--tree/--no-tree", help="Discourse trees, or only sentences and EDUs, with --oracle none.")
    ] = True,
    workers: Annotated[int, typer.Option(min=1, help="Processes beside each other.")] = 1,
    device: Annotated[str, typer.Option(help="Where texts are parsed and encoded: cpu, cuda, cuda:1, ...")] = "cpu",
    shard: Annotated[int, typer.Option(min=1, help="Documents a file.")] = 256,
    text_column: TextColumn = None,
    summary_column: Annotated[
        str | None, typer.Option(help="Column of the summary. Default: references, highlights or summary.")
    ] = None,
) -> None:
    """Parse, label and maybe encode texts with summaries, for training.

    Started again on the same folder, an interrupted run goes on where it stopped. Documents that fail are listed in
    OUT/failures.jsonl.

    Example: discsum preprocess train.jsonl data/cnndm-train --unit both --encoder contextual --workers 2
    """
    from discsum.data.preprocess import PreprocessRecipe
    from discsum.data.preprocess import preprocess as make
    from discsum.data.sources import PairSource

    quiet()
    check_choice("--unit", unit, (*UNITS, "both"))
    units = UNITS if unit == "both" else (unit,)
    recipe = PreprocessRecipe(parser, oracle, oracle_units, units, encoder, shard, tree)
    source = PairSource(table, text_column, summary_column)
    # Counting the rows of a large table takes a while; only the progress bar shows the count.
    with counting("done", source.count() if sys.stderr.isatty() else None) as show:
        manifest = make(
            source.pairs(),
            source.identity(),
            Path(folder),
            recipe,
            workers=workers,
            device=device,
            report=show,
            skip=show.skip,
            warn=lambda line: typer.echo(f"discsum: {line}", err=True),
        )
    typer.echo(f"{folder}: {manifest.documents} documents in {len(manifest.shards)} files", err=True)
    if manifest.failed:
        typer.echo(f"discsum: {manifest.failed} failed, see {Path(folder) / 'failures.jsonl'}", err=True)
        raise typer.Exit(SOME_FAILED if manifest.documents else FAILED)
