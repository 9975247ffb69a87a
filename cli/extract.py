"""`discsum extract`: text or tree to an extractive summary."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from discsum.baselines import BASELINES
from discsum.cli.documents import BATCH, check_choice, write_summaries
from discsum.cli.options import BatchSize, Device, Encoding, Inputs, Output, Roots, Sentences, TextColumn
from discsum.cli.train import HeadFiles
from discsum.constants import DECLARED, LAYOUTS, SENTENCES, UNITS
from discsum.data.inputs import read_inputs
from discsum.errors import InputError

if TYPE_CHECKING:
    from discsum.summary import Summary

app = typer.Typer(add_completion=False)


@app.command()
def extract(
    inputs: Inputs,
    unit: Annotated[
        str | None,
        typer.Option(metavar="sentence|edu", help="Unit of the summary. Default: the unit of the model."),
    ] = None,
    units: Annotated[
        int | None, typer.Option("--units", "-n", help="Units of the summary. Default: 3 sentences or 6 EDUs.")
    ] = None,
    words: Annotated[int | None, typer.Option(help="Maximum number of words.")] = None,
    ratio: Annotated[float | None, typer.Option(help="Maximum number of words as a share of the text's.")] = None,
    dependencies: Annotated[
        bool | None,
        typer.Option(
            "--dependencies/--no-dependencies",
            help="Select EDUs together with those of their sentence that they depend on. Default with --unit edu.",
        ),
    ] = None,
    block_trigrams: Annotated[
        bool, typer.Option("--block-trigrams", help="Skip units that share a trigram with the summary.")
    ] = False,
    layout: Annotated[
        str, typer.Option(metavar="skip|keep", help="Whether headings, bylines, list fragments and code are skipped.")
    ] = "skip",
    tidy: Annotated[
        bool,
        typer.Option("--tidy", help="Capitalise and punctuate the EDUs of each sentence; with --unit edu."),
    ] = False,
    json: Annotated[
        bool,
        typer.Option("--json", help="Print JSON with units, offsets and scores; several documents: one per line."),
    ] = False,
    model: Annotated[
        str | None,
        typer.Option(help=f"A shipped model, a folder, or {', '.join(BASELINES.own)}."),
    ] = None,
    output: Output = None,
    sentences: Sentences = "model",
    roots: Roots = "join",
    encoding: Encoding = DECLARED,
    text_column: TextColumn = None,
    parser: Annotated[
        str | None,
        typer.Option(help="Name or folder of a parser, for baselines; trained models have their own."),
    ] = None,
    device: Device = "cpu",
    batch_size: BatchSize = BATCH,
    head_files: HeadFiles = None,
) -> None:
    """Summarize texts by their most important sentences or EDUs.

    Example: discsum extract article.txt --units 3
    """
    from discsum.summarizer.pipeline import SummaryPipeline

    check_choice("--sentences", sentences, SENTENCES)
    check_choice("--layout", layout, LAYOUTS)
    if unit is not None:
        check_choice("--unit", unit, UNITS)
    try:
        pipeline = SummaryPipeline.load(
            model=model,
            unit=unit,
            units=units,
            words=words,
            ratio=ratio,
            dependencies=dependencies,
            block_trigrams=block_trigrams,
            layout=layout,
            tidy=tidy,
            sentences=sentences,
            parser=parser,
            device=device,
        )
    except InputError as error:
        raise typer.BadParameter(str(error)) from error

    def text_of(summary: Summary) -> str:
        # One sentence per line: headlines stay separate, and ROUGE-Lsum expects it.
        return "\n".join(summary.lines) if summary.unit == "sentence" else summary.text

    entries = read_inputs(inputs, encoding=encoding, text_column=text_column, roots=roots)
    write_summaries(inputs, entries, pipeline, text_of, output, json, batch_size)
