"""`discsum abstract`: text or tree to an abstractive summary."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Annotated

import typer

from discsum.abstractive.sparse.selectors import check_name
from discsum.cli.command import as_usage, command_app, given_options
from discsum.cli.documents import BATCH
from discsum.cli.job import CheckedSource, Job, write_summaries
from discsum.cli.options import (
    OF_SEQUENCE_MODELS,
    RESERVED_KEYS,
    SEQUENCE_MODEL,
    BatchSize,
    Beams,
    CoveragePenalty,
    Device,
    Encoding,
    Input,
    Inputs,
    Json,
    JsonLines,
    LengthPenalty,
    MaxDocumentBytes,
    MaxTokens,
    MinTokens,
    NoTrigramTwice,
    Output,
    ParserName,
    ReadSentences,
    Resume,
    Roots,
    Selector,
    Sentences,
    TextColumn,
    Truncate,
    selector_options,
)
from discsum.cli.output_paths import is_json_lines
from discsum.cli.progress import loading
from discsum.cli.result_options import result_options, with_digest
from discsum.cli.shard_options import (
    CpusPerWorker,
    EngineName,
    Finish,
    GpusPerWorker,
    PartOfShards,
    Shards,
    ShardSize,
    Verify,
    Wait,
    Workers,
)
from discsum.cli.shards import check_no_shards, fill, shard_folder
from discsum.cli.writer import Writer
from discsum.constants import AUTO, BEAMS, DECLARED, HUB, MAX_DOCUMENT_BYTES, SHIPPED_PARSER
from discsum.data.inputs import Item
from discsum.data.shard_sizes import shard_size
from discsum.devices import check_device

if TYPE_CHECKING:
    from discsum.abstractive.pipeline import AbstractivePipeline

app = command_app()


@app.command()
def abstract(
    context: typer.Context,
    inputs: Inputs,
    model: Annotated[
        str | None,
        typer.Option(help=f"{SEQUENCE_MODEL} Required: none is shipped."),
    ] = None,
    selector: Selector = None,
    r: ReadSentences = None,
    beta: Annotated[
        float | None,
        typer.Option(help="Weight of the discourse tree in the selection.", rich_help_panel=OF_SEQUENCE_MODELS),
    ] = None,
    option: Annotated[
        list[str] | None,
        typer.Option(
            metavar="KEY=VALUE",
            help="An option of the selector, such as feature_map=relu, or of a coarse-to-fine model, such as "
            "variant=hier; may be repeated.",
            rich_help_panel=OF_SEQUENCE_MODELS,
        ),
    ] = None,
    per_beam: Annotated[
        bool,
        typer.Option(
            "--per-beam", help="Select sentences for each beam separately.", rich_help_panel=OF_SEQUENCE_MODELS
        ),
    ] = False,
    beams: Beams = BEAMS,
    min_tokens: MinTokens = None,
    max_tokens: MaxTokens = None,
    truncate: Truncate = False,
    length_penalty: LengthPenalty = None,
    coverage_penalty: CoveragePenalty = None,
    block_trigrams: NoTrigramTwice = False,
    device: Device = "cpu",
    json: Json = False,
    jsonl: JsonLines = False,
    output: Output = None,
    sentences: Sentences = "model",
    roots: Roots = "join",
    input: Input = AUTO,
    encoding: Encoding = DECLARED,
    max_document_bytes: MaxDocumentBytes = MAX_DOCUMENT_BYTES,
    text_column: TextColumn = None,
    parser: ParserName = SHIPPED_PARSER,
    batch_size: BatchSize = BATCH,
    resume: Resume = False,
    shards: Shards = False,
    shard: ShardSize = "256",
    workers: Workers = 1,
    engine: EngineName = "local",
    cpus_per_worker: CpusPerWorker = None,
    gpus_per_worker: GpusPerWorker = None,
    part: PartOfShards = None,
    finish: Finish = False,
    verify: Verify = False,
    wait: Wait = False,
) -> None:
    """Write abstractive summaries with a sequence-to-sequence model.

    With --selector, each step reads only the --r sentences that it selects, by default as many as in training. Without
    it, the model reads as in training.

    Example: discsum abstract article.txt --model hf:facebook/bart-large-cnn --selector mean_key --r 5
    """
    from discsum.abstractive.folder import KNOWN, check_model, identity
    from discsum.abstractive.generation import AbstractiveOptions, Generation

    if model is None:
        raise typer.BadParameter(
            "expected a model's folder, or hf:NAME of one on the hub, such as "
            f"{' or '.join(HUB + name for name in KNOWN)}; no model is shipped",
            param_hint="--model",
        )
    with as_usage():
        check_name(selector)
        settings = selector_options(option or [], (*RESERVED_KEYS, "beta"))
        generation = Generation(
            beams, min_tokens, max_tokens, truncate, length_penalty, coverage_penalty, block_trigrams
        )
    given = {"selector": selector, "r": r, "beta": beta, "share_beams": False if per_beam else None}
    # Families of models differ in their options, so pass only those that were given.
    settings |= {name: value for name, value in given.items() if value is not None}
    own = parser if "parser" in given_options(context) else None
    source = CheckedSource(inputs, encoding, text_column, roots, input, max_document_bytes, sentences, parser=own)
    options = AbstractiveOptions(model, generation, settings, sentences, parser, device)
    if shards:
        folder = shard_folder(context, inputs, ("resume",))
        from discsum.abstractive.parts import abstract_job
        from discsum.data.part_maker import Division

        size, unit = shard_size(shard)
        division = Division(size, batch_size=batch_size, shard_unit=unit)
        fill(lambda: abstract_job(source, folder, options, division), context.params, source.count)
        return
    check_no_shards(context)
    job = Job.of(source)
    json = json or jsonl
    suffix, lines = ".json" if json else ".txt", json and (jsonl or is_json_lines(output) or not job.single)
    signature = partial(result_options, context, partial(with_digest, digest=identity))
    writer = Writer(inputs, output, suffix, one_file=True, lines=lines, resume=resume, options=signature)
    check_model(model)

    def load(_: Sequence[Item]) -> AbstractivePipeline:
        with loading("the model"):
            from discsum.abstractive.pipeline import AbstractivePipeline

            with as_usage():
                check_device(device)
            return AbstractivePipeline.load(options)

    write_summaries(job, load, writer, lambda summary: summary.text, json, batch_size)
