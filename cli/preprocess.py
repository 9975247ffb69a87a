"""`discsum preprocess`: texts with summaries to a dataset folder."""

from __future__ import annotations

import sys
from functools import partial
from typing import Annotated

import typer

from discsum.cli.command import command_app
from discsum.cli.completion import choice
from discsum.cli.documents import FAILED, SOME_FAILED, check_choice
from discsum.cli.options import MaxDocumentBytes, ParserName, TextColumn
from discsum.cli.progress import counting, say
from discsum.constants import MAX_DOCUMENT_BYTES, SHIPPED_PARSER, UNITS
from discsum.data.engines import ENGINES, engine_of
from discsum.data.parts import Part
from discsum.data.shard_sizes import DOCUMENTS, shard_of
from discsum.errors import InputError
from discsum.oracles import ORACLES

app = command_app()


def _known_part(text: str | None) -> str | None:
    if text is not None:
        try:
            Part.of(text)
        except InputError as error:
            raise typer.BadParameter(str(error)) from error
    return text


def _known_shard(text: str) -> str:
    try:
        shard_of(text)
    except InputError as error:
        raise typer.BadParameter(str(error)) from error
    return text


@app.command()
def preprocess(
    table: Annotated[
        str,
        typer.Argument(
            metavar="INPUT",
            help="A .jsonl(.gz), .csv, .tsv or .parquet table, a folder of them, a pattern as 'train/*.parquet', or a "
            "URL of these, as s3://BUCKET/train; a folder that the library datasets saved, or "
            "hf:NAME[:CONFIG[:SPLIT]] for a dataset of the Hugging Face hub.",
            show_default=False,
        ),
    ],
    folder: Annotated[
        str, typer.Argument(metavar="OUT", help="Folder of the dataset, or its URL.", show_default=False)
    ],
    parser: ParserName = SHIPPED_PARSER,
    oracle: Annotated[
        str,
        typer.Option(**choice(*ORACLES.own, "none"), help="Oracle that labels the units."),
    ] = "rouge12-f",
    oracle_units: Annotated[
        int | None, typer.Option(help="Maximum number of units that it selects. Default: as in its paper.")
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
    workers: Annotated[int, typer.Option(min=1, help="Number of parallel workers.")] = 1,
    engine: Annotated[
        str,
        typer.Option(
            **choice(*ENGINES.own),
            help="Where workers run: local, processes of this machine; ray, Ray on this machine; ray:ADDRESS, a Ray "
            "cluster.",
        ),
    ] = "local",
    cpus_per_worker: Annotated[
        int | None, typer.Option(min=1, help="CPUs of each worker, with --engine ray. Default: 1.")
    ] = None,
    gpus_per_worker: Annotated[
        float | None,
        typer.Option(min=0, help="GPUs of each worker, or a share of one, with --engine ray. Default: 1 with cuda."),
    ] = None,
    part: Annotated[
        str | None,
        typer.Option(
            metavar="I/N",
            callback=_known_part,
            help="Make part I of N only, beside runs that make others, as jobs of an array do; then --finish.",
        ),
    ] = None,
    finishing: Annotated[
        bool, typer.Option("--finish", help="Parse nothing: complete the folder when all parts are made.")
    ] = False,
    verify: Annotated[
        bool, typer.Option("--verify", help="Compare files of earlier runs with their checksums, not only sizes.")
    ] = False,
    device: Annotated[str, typer.Option(help="Device of the parser and the encoder: cpu, cuda, cuda:1, ...")] = "cpu",
    shard: Annotated[
        str,
        typer.Option(
            metavar="N|SIZE",
            callback=_known_shard,
            help="Documents per file, or bytes of the input, as 8MiB, of which each worker finds its own lines.",
        ),
    ] = "256",
    text_column: TextColumn = None,
    summary_column: Annotated[
        str | None, typer.Option(help="Column of the summaries. Default: references, highlights or summary.")
    ] = None,
    max_document_bytes: MaxDocumentBytes = MAX_DOCUMENT_BYTES,
) -> None:
    """Parse, label and encode texts with summaries, for training.

    Repeat the command to resume an interrupted run. Documents that fail are listed in OUT/failures.jsonl.

    Example: discsum preprocess train.jsonl data/cnndm-train --unit both --encoder contextual --workers 2
    """
    from discsum.data.pairs import PairSource
    from discsum.data.preprocess import PreprocessRecipe, finish, preprocess_part
    from discsum.data.preprocess import preprocess as make
    from discsum.data.storage import location

    check_choice("--unit", unit, (*UNITS, "both"))
    if part and finishing:
        raise typer.BadParameter("expected one of --part and --finish, got both")
    units = UNITS if unit == "both" else (unit,)
    size, shard_unit = shard_of(shard)
    recipe = PreprocessRecipe(parser, oracle, oracle_units, units, encoder, size, tree, shard_unit)
    if gpus_per_worker is None and device.startswith("cuda") and engine.partition(":")[0] == "ray":
        # A worker of Ray sees the GPUs that it asks for, and no others.
        gpus_per_worker = 1
    place = engine_of(engine, workers, cpus_per_worker=cpus_per_worker, gpus_per_worker=gpus_per_worker)
    source = PairSource(table, text_column, summary_column, max_document_bytes=max_document_bytes)
    # Counting the rows of a large table takes a while; only the progress bar shows the count.
    with counting("done", source.count() if sys.stderr.isatty() and not part else None) as counter:
        identity = source.identity(hashed=shard_unit == DOCUMENTS)
        documents = (source.pairs(), identity, location(folder), recipe)
        if finishing:
            manifest = finish(*documents, verify=verify, report=counter)
        else:
            run = partial(preprocess_part, part=Part.of(part)) if part else make
            made = run(
                *documents,
                engine=place,
                device=device,
                verify=verify,
                report=counter,
                skip=counter.skip,
                warn=lambda line: say(f"discsum: {line}"),
            )
            if isinstance(made, int):
                typer.echo(
                    f"{folder}: part {part} is done, {made} files; when all are, run this with --finish", err=True
                )
                return
            manifest = made
    typer.echo(f"{folder}: {manifest.documents} documents in {len(manifest.shards)} files", err=True)
    if manifest.failed:
        typer.echo(f"discsum: {manifest.failed} failed, see {location(folder) / 'failures.jsonl'}", err=True)
        raise typer.Exit(SOME_FAILED if manifest.documents else FAILED)
