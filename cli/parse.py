"""`discsum parse`: raw text to a discourse tree."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Annotated

import typer

from discsum.cli.choices import choice, one_of
from discsum.cli.command import as_usage, command_app, given_options
from discsum.cli.completion import among
from discsum.cli.documents import BATCH
from discsum.cli.job import CheckedSource, Job
from discsum.cli.options import (
    OF_INPUTS,
    BatchSize,
    Device,
    Encoding,
    Input,
    Inputs,
    Json,
    JsonLines,
    MaxDocumentBytes,
    Output,
    ParserName,
    Precision,
    Resume,
    Roots,
    Sentences,
    TextColumn,
)
from discsum.cli.output_paths import is_json_lines
from discsum.cli.progress import loading
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
from discsum.constants import AUTO, DECLARED, EDUS, MAX_DOCUMENT_BYTES, PARSER_KIND, SHIPPED_PARSER
from discsum.data.failures import Failure
from discsum.data.inputs import Item
from discsum.data.shard_names import JSON_LINES
from discsum.data.shard_sizes import shard_size
from discsum.devices import check_device, check_precision
from discsum.files import to_line
from discsum.format_registry import dump, suffix, writable
from discsum.persistence import read_config

if TYPE_CHECKING:
    from discsum.document import Document
    from discsum.parsers.parser import Parser

app = command_app()

# Formats that can hold several documents one after another, so that standard output can take them.
SHOWN = ("tree", "json")


@app.command()
def parse(
    context: typer.Context,
    inputs: Inputs,
    format: Annotated[
        str,
        typer.Option(
            "--format",
            "-f",
            metavar="|".join(writable(installed=False)),
            autocompletion=among(writable),
            callback=one_of(writable),
            help="Output format; tree is an outline, json the same as --json.",
        ),
    ] = "tree",
    json: Json = False,
    jsonl: JsonLines = False,
    output: Output = None,
    sentences: Sentences = "model",
    edus: Annotated[
        str,
        typer.Option(
            **choice(*EDUS),
            help="EDU segmentation: by the parser, or one EDU per line.",
            rich_help_panel=OF_INPUTS,
        ),
    ] = "model",
    brackets: Annotated[
        bool,
        typer.Option(
            "--brackets",
            help="Write ( and ) in texts as -LRB- and -RRB-, for tools such as NLTK; with --format dis.",
        ),
    ] = False,
    roots: Roots = "join",
    input: Input = AUTO,
    encoding: Encoding = DECLARED,
    max_document_bytes: MaxDocumentBytes = MAX_DOCUMENT_BYTES,
    text_column: TextColumn = None,
    parser: ParserName = SHIPPED_PARSER,
    device: Device = "cpu",
    precision: Precision = "fp32",
    batch_size: BatchSize = BATCH,
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
    """Turn raw text into discourse trees, or convert tree files.

    Example: discsum parse article.txt --format rs3 -o article.rs3
    """
    if (json or jsonl) and format not in SHOWN:
        option = "--jsonl" if jsonl else "--json"
        raise typer.BadParameter(f"cannot be combined with --format {format}", param_hint=option)
    format = "json" if json or jsonl else format
    if brackets and format != "dis":
        raise typer.BadParameter(f"needs --format dis, got {format}", param_hint="--brackets")
    own = parser if "parser" in given_options(context) else None
    source = CheckedSource(inputs, encoding, text_column, roots, input, max_document_bytes, sentences, edus, own)
    if shards:
        folder = shard_folder(context, inputs, ("resume",) if format == "json" else ("resume", "format"))
        from discsum.data.parse_parts import ParseRecipe, parse_job
        from discsum.data.part_maker import Division

        size, shard_unit = shard_size(shard)
        division = Division(size, shard_format, batch_size, shard_unit)
        recipe = ParseRecipe(parser, sentences, edus, precision)
        fill(lambda: parse_job(source, folder, recipe, division), context.params, source.count)
        return
    check_no_shards(context)
    job = Job.of(source)
    single = job.single
    if not single and output in (None, "-") and format not in SHOWN:
        raise typer.BadParameter(f"several documents as {format} need a folder: -o FOLDER", param_hint="--output")
    jsonl = jsonl or is_json_lines(output)
    lines = format == "json" and (jsonl or not single)
    one_file = single or format in SHOWN
    options = partial(result_options, context)
    writer = Writer(inputs, output, suffix(format), one_file=one_file, lines=lines, resume=resume, options=options)

    def load(items: Sequence[Item]) -> Callable[[Sequence[Item]], list[Document]]:
        if any(item.document is None for item in items):
            read_config(parser, PARSER_KIND)
        with loading("the parser"), as_usage():
            check_device(device)
            check_precision(precision, device)
            from discsum.parsers.parsing import ensure_parsed

        def engine() -> Parser:
            with loading("the parser"):
                from discsum.parsers.loading import load_parser

                return load_parser(parser, device, precision)

        return lambda items: [item.document for item in ensure_parsed(items, engine, sentences=sentences, edus=edus)]

    def write(item: Item, document: Document) -> None:
        writer.write(item, _render(document, format, single and not jsonl, writer, brackets))

    if format not in SHOWN:
        job = replace(job, entries=map(_with_text, job.entries))
    job.process("parsed", load, writer, write, batch_size)


def _with_text(entry: Item | Failure) -> Item | Failure:
    """Return the document, or a failure if it has no text, and so no tree to write."""
    if isinstance(entry, Failure) or entry.text.strip():
        return entry
    reason = "expected some text, got none; without text, --format can only be json or tree"
    return Failure(entry.source, reason)


def _render(document: Document, format: str, single: bool, writer: Writer, brackets: bool) -> str:
    if format == "json":
        return to_line(writer.with_resume_fields(document.to_json(), document.text), pretty=single)
    if format != "tree":
        return dump(document, format, brackets=brackets)
    from discsum.formats.tree import to_text

    heading = "" if single or writer.folder else f"== {document.id}\n"
    if not document.edus:
        return heading
    return heading + to_text(document, shutil.get_terminal_size().columns if writer.on_terminal else None)
