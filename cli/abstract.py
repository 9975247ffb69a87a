"""`discsum abstract`: text or tree to a summary in words of its own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from discsum.cli.documents import check_choice, write_summaries
from discsum.cli.options import (
    NO_OPTIONS,
    Encoding,
    Inputs,
    Output,
    ParserName,
    Sentences,
    TextColumn,
    selector_options,
)
from discsum.cli.progress import quiet
from discsum.constants import SENTENCES, SHIPPED_PARSER
from discsum.data.inputs import Item, read_inputs
from discsum.errors import InputError

if TYPE_CHECKING:
    from discsum.abstractive.summarizer import AbstractiveSummary
    from discsum.document import Document
    from discsum.parsers.parser import Parser

BEAMS = 4


def abstract(
    inputs: Inputs,
    model: Annotated[
        str | None, typer.Option(help="Folder of a BART, mBART, PEGASUS or LED model, or hf:NAME from the hub.")
    ] = None,
    selector: Annotated[
        str | None,
        typer.Option(
            help="Which sentences a step reads: all, mean_key, min_max, ideal, random, ... "
            "Default: as the model was trained, or all."
        ),
    ] = None,
    r: Annotated[
        int | None,
        typer.Option(
            "--r",
            min=1,
            help="How many of them. A document of fewer than 3.5 * (r + 2) sentences, 42 for --r 10, is read whole, "
            "because that is faster. Default: as the model was trained, or all.",
        ),
    ] = None,
    beta: Annotated[float | None, typer.Option(help="Weight of the discourse tree in the choice.")] = None,
    option: Annotated[
        list[str] | None, typer.Option(metavar="KEY=VALUE", help="An option of the selector, as feature_map=relu.")
    ] = None,
    per_beam: Annotated[
        bool, typer.Option("--per-beam", help="Choose sentences for each beam, not for all of a document together.")
    ] = False,
    beams: Annotated[int, typer.Option(min=1, help="Beams of the search.")] = BEAMS,
    min_tokens: Annotated[int | None, typer.Option(min=1, help="Tokens of the summary, at least.")] = None,
    max_tokens: Annotated[int | None, typer.Option(min=1, help="Tokens of the summary, at most.")] = None,
    truncate: Annotated[
        bool, typer.Option("--truncate", help="Cut texts that are longer than what the model reads.")
    ] = False,
    device: Annotated[str, typer.Option(help="Where the model runs: cpu, cuda, ...")] = "cpu",
    json: Annotated[bool, typer.Option("--json", help="JSON; several documents: one a line.")] = False,
    output: Output = None,
    sentences: Sentences = "model",
    encoding: Encoding = "utf-8",
    text_column: TextColumn = None,
    parser: ParserName = SHIPPED_PARSER,
) -> None:
    """Summarize texts in words of their own, by a sequence-to-sequence model that reads some sentences a step.

    Example: discsum abstract article.txt --model hf:facebook/bart-large-cnn --selector mean_key --r 10
    """
    from discsum.abstractive.summarizer import KNOWN, AbstractiveSummarizer
    from discsum.cli.models import load_parser
    from discsum.constants import HUB

    check_choice("--sentences", sentences, SENTENCES)
    if model is None:
        raise InputError(
            "--model: expected a folder of a model, or hf:NAME of one on the hub, as "
            f"{' or '.join(HUB + name for name in KNOWN)}; none is shipped"
        )
    quiet()
    summarizer = AbstractiveSummarizer.from_pretrained(
        model,
        selector=selector,
        r=r,
        beta=beta,
        share_beams=not per_beam,
        device=device,
        **selector_options(option or [], (*NO_OPTIONS, "beta")),
    )
    engine = load_parser(parser)
    lengths = {"min_new_tokens": min_tokens, "max_new_tokens": max_tokens}
    options = {"num_beams": beams} | {name: value for name, value in lengths.items() if value is not None}

    def work(items: Sequence[Item]) -> list[AbstractiveSummary]:
        summaries = summarizer.summarize(_documents(items, engine, sentences), truncate=truncate, **options)
        for summary in summaries:
            _note_whole(summary)
        return summaries

    entries = read_inputs(inputs, encoding=encoding, text_column=text_column)
    write_summaries(inputs, entries, work, lambda summary: summary.text, output, json)


def _note_whole(summary: AbstractiveSummary) -> None:
    """Say on standard error that a document is read whole although fewer sentences were asked for."""
    from discsum.abstractive.sparse.costs import whole_below

    if summary.r is not None and summary.r < summary.sentences == summary.read:
        typer.echo(
            f"discsum: {summary.document.id}: all {summary.sentences} sentences are read: with --r {summary.r} that is "
            f"faster below {whole_below(summary.r)} sentences",
            err=True,
        )


def _documents(items: Sequence[Item], parser: Parser, sentences: str) -> list[Document]:
    """Return the items' documents: texts parsed together, trees as they are, with what they lack added."""
    bare = [item for item in items if item.document is None]
    parsed = iter(parser.encode([item.text for item in bare], sentences=sentences, ids=[item.id for item in bare]))
    documents = []
    for item in items:
        own = item.document
        if own is None:
            documents.append(next(parsed).document)
        else:
            whole = own if own.tree is not None and own.sentences else parser.encode_document(own).document
            documents.append(whole.with_id(item.id))
    return documents
