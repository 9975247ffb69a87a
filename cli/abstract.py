"""`discsum abstract`: text or tree to an abstractive summary."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from discsum.abstractive.sparse.selectors import check_name
from discsum.cli.command import as_usage, command_app, given_options
from discsum.cli.job import CheckedSource, Job, write_summaries
from discsum.cli.options import (
    OF_SEQUENCE_MODELS,
    RESERVED_KEYS,
    SEQUENCE_MODEL,
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
    Roots,
    Selector,
    Sentences,
    TextColumn,
    Truncate,
    selector_options,
)
from discsum.cli.output_paths import is_json_lines
from discsum.cli.progress import loading, say
from discsum.cli.writer import Writer
from discsum.constants import AUTO, BEAMS, DECLARED, HUB, MAX_DOCUMENT_BYTES, SHIPPED_PARSER
from discsum.data.inputs import Item
from discsum.devices import check_device

if TYPE_CHECKING:
    from discsum.abstractive.summarizer import AbstractiveSummary

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
) -> None:
    """Write abstractive summaries with a sequence-to-sequence model.

    With --selector, each step reads only the --r sentences that it selects, by default as many as in training. Without
    it, the model reads as in training.

    Example: discsum abstract article.txt --model hf:facebook/bart-large-cnn --selector mean_key --r 5
    """
    from discsum.abstractive.folder import KNOWN, check_model
    from discsum.abstractive.generation import Generation

    if model is None:
        raise typer.BadParameter(
            "expected a model's folder, or hf:NAME of one on the hub, such as "
            f"{' or '.join(HUB + name for name in KNOWN)}; no model is shipped",
            param_hint="--model",
        )
    with as_usage():
        check_name(selector)
        options = selector_options(option or [], (*RESERVED_KEYS, "beta"))
        generation = Generation(
            beams, min_tokens, max_tokens, truncate, length_penalty, coverage_penalty, block_trigrams
        )
    given = {"selector": selector, "r": r, "beta": beta, "share_beams": False if per_beam else None}
    # Families of models differ in their options, so pass only those that were given.
    options |= {name: value for name, value in given.items() if value is not None}
    own = parser if "parser" in given_options(context) else None
    source = CheckedSource(inputs, encoding, text_column, roots, input, max_document_bytes, sentences, parser=own)
    job = Job.of(source)
    json = json or jsonl
    writer = Writer(
        inputs,
        output,
        ".json" if json else ".txt",
        one_file=True,
        lines=json and (jsonl or is_json_lines(output) or not job.single),
    )
    check_model(model)

    def load(_: Sequence[Item]) -> Callable[[Sequence[Item]], list[AbstractiveSummary]]:
        with loading("the model"):
            from discsum.abstractive.summarizer import AbstractiveSummarizer
            from discsum.parsers.loading import load_parser
            from discsum.parsers.parsing import ensure_parsed

            with as_usage():
                check_device(device)
            summarizer = AbstractiveSummarizer.from_pretrained(model, device=device, **options)

        def work(items: Sequence[Item]) -> list[AbstractiveSummary]:
            parsed = ensure_parsed(items, lambda: load_parser(parser, device), sentences=sentences)
            summaries = list(summarizer.summarize_many([item.document for item in parsed], **generation.options))
            for summary in summaries:
                _note_whole(summary)
                _note_empty(summary)
            return summaries

        return work

    write_summaries(job, load, writer, lambda summary: summary.text, json)


def _note_whole(summary: AbstractiveSummary) -> None:
    """Report on standard error if the model read all sentences although `--r` is smaller."""
    from discsum.abstractive.sparse.costs import whole_below

    if summary.is_whole:
        r, sentences = summary.details["r"], summary.details["sentences"]
        say(
            f"discsum: {summary.document.id}: the model reads all {sentences} sentences: with --r {r}, that is "
            f"faster below {whole_below(r)} sentences"
        )


def _note_empty(summary: AbstractiveSummary) -> None:
    """Report on standard error if the model's best summary of a text has no word."""
    if summary.document.text.strip() and not summary.text:
        say(
            f"discsum: {summary.document.id}: expected a summary, got an empty one from {summary.model}: its best "
            "hypothesis has no words; set --min-tokens, or lower the penalties"
        )
