"""`discsum preprocess`: texts with summaries to a dataset folder."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from discsum.cli.choices import choice, open_choice
from discsum.cli.command import as_usage, command_app
from discsum.cli.documents import BATCH
from discsum.cli.options import (
    BatchSize,
    Device,
    MaxDocumentBytes,
    ParserName,
    Precision,
    SummaryColumn,
    TextColumn,
    no_standard_input,
)
from discsum.cli.output_paths import check_no_stream, check_outside
from discsum.cli.shard_options import (
    CpusPerWorker,
    EngineName,
    Finish,
    GpusPerWorker,
    PartOfShards,
    ShardSize,
    Verify,
    Wait,
    Workers,
)
from discsum.cli.shards import check_fillable, fill
from discsum.constants import MAX_DOCUMENT_BYTES, SHIPPED_PARSER, UNITS
from discsum.data.shard_sizes import DOCUMENTS, shard_size
from discsum.data.storage import location
from discsum.oracles import ORACLES

app = command_app()


@app.command()
def preprocess(
    context: typer.Context,
    table: Annotated[
        str,
        typer.Argument(
            metavar="INPUT",
            callback=no_standard_input,
            help="A .jsonl, .csv or .tsv table (also .gz, .zst, ...), a .parquet table, a folder of tables, a pattern "
            "such as 'train/*.parquet', or a URL of these such as s3://BUCKET/train; a folder that the library "
            "datasets saved; or hf:NAME[:CONFIG[:SPLIT]] for a dataset on the Hugging Face hub.",
            show_default=False,
        ),
    ],
    folder: Annotated[
        str,
        typer.Argument(
            metavar="OUT", callback=check_no_stream, help="Folder of the dataset, or its URL.", show_default=False
        ),
    ],
    parser: ParserName = SHIPPED_PARSER,
    oracle: Annotated[
        str,
        typer.Option(**open_choice(*ORACLES.own, "none"), help="Oracle that labels the units."),
    ] = "rouge12-f",
    oracle_units: Annotated[
        int | None,
        typer.Option(help="Maximum number of units that the oracle selects. Default: the limit of the oracle."),
    ] = None,
    unit: Annotated[
        str,
        typer.Option(**choice(*UNITS, "both"), help="Units to label and encode."),
    ] = "both",
    encoder: Annotated[
        str,
        typer.Option(
            help="Unit vectors: none; contextual, discourse or isolated, by the parser's encoder; or the name or "
            "folder of a Hugging Face encoder."
        ),
    ] = "none",
    tree: Annotated[
        bool, typer.Option("--tree/--no-tree", help="Whether to build discourse trees; --no-tree needs --oracle none.")
    ] = True,
    workers: Workers = 1,
    engine: EngineName = "local",
    cpus_per_worker: CpusPerWorker = None,
    gpus_per_worker: GpusPerWorker = None,
    part: PartOfShards = None,
    finish: Finish = False,
    verify: Verify = False,
    wait: Wait = False,
    device: Device = "cpu",
    precision: Precision = "fp32",
    batch_size: BatchSize = BATCH,
    shard: ShardSize = "256",
    text_column: TextColumn = None,
    summary_column: SummaryColumn = None,
    max_document_bytes: MaxDocumentBytes = MAX_DOCUMENT_BYTES,
) -> None:
    """Parse, label and encode texts with summaries, for training.

    Repeat the command to resume an interrupted run. Documents that fail are listed in OUT/failures.jsonl.

    Example: discsum preprocess train.jsonl data/cnndm-train --unit both --encoder contextual --workers 2
    """
    from discsum.data.pairs import PairSource
    from discsum.data.preprocess import preprocess_job
    from discsum.data.preprocess_recipe import PreprocessRecipe

    units = UNITS if unit == "both" else (unit,)
    size, shard_unit = shard_size(shard)
    with as_usage():
        recipe = PreprocessRecipe(
            parser, oracle, oracle_units, units, encoder, size, tree, shard_unit, precision, batch_size
        )
    source = PairSource(table, text_column, summary_column, max_document_bytes=max_document_bytes)
    hashed, place = shard_unit == DOCUMENTS, location(folder)
    if isinstance(place, Path):
        check_fillable(place, "OUT")
    check_outside(place, [table])
    fill(
        lambda: preprocess_job(source.pairs(), source.identity(hashed=hashed), place, recipe),
        context.params,
        source.count,
    )
