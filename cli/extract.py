"""`discsum extract`: text or tree to an extractive summary."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from discsum.baselines import BASELINES
from discsum.cli.documents import check_choice, write_summaries
from discsum.cli.options import Encoding, Inputs, Output, Sentences, TextColumn
from discsum.cli.train import HeadFiles
from discsum.constants import SENTENCES, SHIPPED_PARSER, UNITS
from discsum.data.inputs import Item, read_inputs

if TYPE_CHECKING:
    from discsum.parsers.parser import Parser
    from discsum.scoring import UnitScorer
    from discsum.selection import Budget, Policy
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
    encoding: Encoding = "utf-8",
    text_column: TextColumn = None,
    parser: Annotated[
        str | None,
        typer.Option(help="Name or folder of a parser, for baselines; trained models have their own."),
    ] = None,
    head_files: HeadFiles = None,
) -> None:
    """Summarize texts by their most important sentences or EDUs.

    Example: discsum extract article.txt --units 3
    """
    from discsum.parsers.parsing import ensure_parsed
    from discsum.scoring import extract as summary_of
    from discsum.summarizer.loading import load_scorer

    check_choice("--sentences", sentences, SENTENCES)
    if unit is not None:
        check_choice("--unit", unit, UNITS)
    given = _budget(units, words, ratio)
    scorer = load_scorer(model, unit)
    policy = _policy(scorer, unit, given, dependencies, block_trigrams)
    engine = _parser(scorer, parser)

    def work(items: Sequence[Item]) -> list[Summary]:
        parsed = ensure_parsed(items, engine, sentences=sentences)
        return [
            summary_of(item.document, scorer, policy, scores=scores, tidy=tidy)
            for item, scores in zip(parsed, scorer.scores(parsed, policy.unit), strict=True)
        ]

    def text_of(summary: Summary) -> str:
        # One sentence per line: headlines stay separate, and ROUGE-Lsum expects it.
        return "\n".join(summary.lines) if policy.unit == "sentence" else summary.text

    entries = read_inputs(inputs, encoding=encoding, text_column=text_column)
    write_summaries(inputs, entries, work, text_of, output, json)


def _budget(units: int | None, words: int | None, ratio: float | None) -> Budget | None:
    """Return the requested length; None for the default of the model."""
    from discsum.errors import InputError
    from discsum.selection import Budget

    if units is None and words is None and ratio is None:
        return None
    try:
        return Budget(units, words, ratio)
    except InputError as error:
        raise typer.BadParameter(str(error)) from error


def _policy(
    scorer: UnitScorer, unit: str | None, given: Budget | None, dependencies: bool | None, trigrams: bool
) -> Policy:
    from discsum.errors import InputError
    from discsum.selection import Budget, Policy

    chosen = unit or scorer.unit or "sentence"
    if trigrams and scorer.own_selection:
        raise typer.BadParameter(f"{scorer.name} selects by a rule of its own", param_hint="--block-trigrams")
    try:
        wanted = chosen == "edu" if dependencies is None else dependencies
        return Policy(given or Budget(scorer.usual_units(chosen)), chosen, trigrams, wanted)
    except InputError as error:
        raise typer.BadParameter(str(error)) from error


def _parser(scorer: UnitScorer, name: str | None) -> Callable[[], Parser]:
    """Return a function that gives the parser: the scorer's own if it has one, otherwise the named one."""
    from discsum.parsers.loading import load_parser

    own = scorer.parser
    if own is None:
        return lambda: load_parser(name or SHIPPED_PARSER)
    if name is not None and load_parser(name).fingerprint != own.fingerprint:
        raise typer.BadParameter(f"{scorer.name} reads the vectors of its own parser", param_hint="--parser")
    return lambda: own
