"""`discsum extract`: text or tree to an extractive summary."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext
from functools import partial
from typing import TYPE_CHECKING, Annotated

import typer

from discsum.baselines import BASELINES
from discsum.cli.choices import choice
from discsum.cli.command import as_usage, command_app
from discsum.cli.completion import parsers, scorers
from discsum.cli.documents import BATCH
from discsum.cli.job import CheckedSource, Job, write_summaries
from discsum.cli.options import (
    OF_SELECTION,
    BatchSize,
    BlockTrigrams,
    Brevity,
    Device,
    Encoding,
    HeadFiles,
    Input,
    Inputs,
    Json,
    JsonLines,
    Layout,
    MaxDocumentBytes,
    Output,
    Precision,
    Ratio,
    Redundancy,
    Resume,
    Roots,
    Sentences,
    TextColumn,
    Units,
    Words,
)
from discsum.cli.output_paths import is_json_lines
from discsum.cli.progress import loading
from discsum.cli.reports import Reports
from discsum.cli.result_options import result_options
from discsum.cli.shard_options import (
    CpusPerWorker,
    EngineName,
    Finish,
    GpusPerWorker,
    PartOfShards,
    ShardFormat,
    Shards,
    ShardSize,
    Verify,
    Wait,
    Workers,
)
from discsum.cli.shards import check_no_shards, fill, shard_folder
from discsum.cli.writer import Writer
from discsum.constants import AUTO, DECLARED, MAX_DOCUMENT_BYTES, PARSER_KIND, UNITS
from discsum.data.inputs import Item
from discsum.data.shard_names import JSON_LINES
from discsum.data.shard_sizes import shard_size
from discsum.persistence import read_config

if TYPE_CHECKING:
    from discsum.summarizer.pipeline import SummaryPipeline
    from discsum.summary import Summary

app = command_app()


@app.command()
def extract(
    context: typer.Context,
    inputs: Inputs,
    unit: Annotated[
        str | None,
        typer.Option(
            **choice(*UNITS),
            help="Unit of the summary. Default: the model's unit, or sentence if it takes both.",
            rich_help_panel=OF_SELECTION,
        ),
    ] = None,
    units: Units = None,
    words: Words = None,
    ratio: Ratio = None,
    dependencies: Annotated[
        bool | None,
        typer.Option(
            "--dependencies/--no-dependencies",
            help="With each EDU, also select the EDUs of its sentence that it depends on. Default with --unit edu.",
            rich_help_panel=OF_SELECTION,
        ),
    ] = None,
    block_trigrams: BlockTrigrams = None,
    redundancy: Redundancy = None,
    brevity: Brevity = None,
    layout: Layout = "skip",
    tidy: Annotated[
        bool,
        typer.Option(
            "--tidy",
            help="Capitalise and punctuate the EDUs of each sentence; with --unit edu.",
            rich_help_panel=OF_SELECTION,
        ),
    ] = False,
    json: Json = False,
    jsonl: JsonLines = False,
    model: Annotated[
        str | None,
        typer.Option(
            autocompletion=scorers,
            help=f"A shipped model, a folder, hf:NAME from the hub, or {', '.join(BASELINES.own)}. Default: the "
            "shipped model for the unit.",
        ),
    ] = None,
    query: Annotated[
        str | None,
        typer.Option(
            metavar="TEXT", help="Words or a question that the summary should be about.", rich_help_panel=OF_SELECTION
        ),
    ] = None,
    output: Output = None,
    report: Annotated[
        str | None,
        typer.Option(
            help="Also write a page with text, scores, tree and matrices: an .html file, or for several documents a "
            "folder of pages with an index.html."
        ),
    ] = None,
    sentences: Sentences = "model",
    roots: Roots = "join",
    input: Input = AUTO,
    encoding: Encoding = DECLARED,
    max_document_bytes: MaxDocumentBytes = MAX_DOCUMENT_BYTES,
    text_column: TextColumn = None,
    parser: Annotated[
        str | None,
        typer.Option(
            autocompletion=parsers,
            help="Name or folder of a parser, or hf:NAME from the hub; for baselines only: trained models have their "
            "own.",
        ),
    ] = None,
    device: Device = "cpu",
    precision: Precision = "fp32",
    batch_size: BatchSize = BATCH,
    head_files: HeadFiles = None,
    resume: Resume = False,
    shards: Shards = False,
    shard: ShardSize = "256",
    shard_format: ShardFormat = JSON_LINES,
    workers: Workers = 1,
    engine: EngineName = "local",
    cpus_per_worker: CpusPerWorker = None,
    gpus_per_worker: GpusPerWorker = None,
    part: PartOfShards = None,
    finish: Finish = False,
    verify: Verify = False,
    wait: Wait = False,
) -> None:
    """Summarize texts by their most important sentences or EDUs.

    Example: discsum extract article.txt --units 3
    """
    from discsum.summarizer.options import SummaryOptions

    source = CheckedSource(
        inputs,
        encoding,
        text_column,
        roots,
        input,
        max_document_bytes,
        sentences,
        parser=parser if query is None else None,
    )
    with as_usage():
        options = SummaryOptions(
            model=model,
            unit=unit,
            units=units,
            words=words,
            ratio=ratio,
            dependencies=dependencies,
            block_trigrams=block_trigrams,
            redundancy=redundancy,
            brevity=brevity,
            layout=layout,
            tidy=tidy,
            sentences=sentences,
            parser=parser,
            # Workers check their own device: they may run on other machines.
            device="cpu" if shards else device,
            precision=precision,
            query=query,
        )
    if shards:
        folder = shard_folder(context, inputs, ("resume", "report"))
        from discsum.data.part_maker import Division
        from discsum.summarizer.parts import summary_job

        size, shard_unit = shard_size(shard)
        division = Division(size, shard_format, batch_size, shard_unit)
        fill(lambda: summary_job(source, folder, options, division, head_files or ()), context.params, source.count)
        return
    check_no_shards(context)
    job = Job.of(source)
    json = json or jsonl
    suffix, lines = ".json" if json else ".txt", json and (jsonl or is_json_lines(output) or not job.single)
    signature = partial(result_options, context)
    writer = Writer(inputs, output, suffix, one_file=True, lines=lines, resume=resume, options=signature)
    reports = Reports(inputs, report, single=job.single, output=output, resume=resume) if report is not None else None

    def load(items: Sequence[Item]) -> SummaryPipeline:
        if parser is not None and (query is not None or any(item.document is None for item in items)):
            read_config(parser, PARSER_KIND)
        with loading("the model"), as_usage():
            from discsum.summarizer.loading import load_pipeline

            pipeline = load_pipeline(options)
        if reports is not None:
            reports.describe(pipeline)
        return pipeline

    def text_of(summary: Summary) -> str:
        # One sentence per line: headlines stay separate, and ROUGE-Lsum expects it.
        return "\n".join(summary.lines) if summary.unit == "sentence" else summary.text

    with reports or nullcontext():
        write_page = reports.write if reports is not None else None
        write_summaries(job, load, writer, text_of, json, batch_size, write_page)
