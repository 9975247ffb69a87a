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


def extract(
    inputs: Inputs,
    unit: Annotated[
        str | None,
        typer.Option(metavar="sentence|edu", help="What a summary is made of. Default: what the model selects."),
    ] = None,
    units: Annotated[
        int | None, typer.Option("--units", "-n", help="Units of the summary. Default: 3 sentences or 6 EDUs.")
    ] = None,
    words: Annotated[int | None, typer.Option(help="Words of the summary, at most.")] = None,
    ratio: Annotated[float | None, typer.Option(help="Words of the summary as a share of the text's.")] = None,
    dependencies: Annotated[
        bool | None,
        typer.Option(
            "--dependencies/--no-dependencies",
            help="EDUs bring along the EDUs of their sentence that they depend on. Default: yes, with --unit edu.",
        ),
    ] = None,
    block_trigrams: Annotated[
        bool, typer.Option("--block-trigrams", help="Skip units that repeat three words of the summary.")
    ] = False,
    tidy: Annotated[
        bool,
        typer.Option("--tidy", help="Capitalise and close what is taken of each sentence, headlines too; with EDUs."),
    ] = False,
    json: Annotated[
        bool,
        typer.Option("--json", help="JSON with units, offsets and scores; several documents: one a line."),
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
        typer.Option(help="A shipped parser or the folder of one, for baselines; a trained model has its own."),
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
        # Sentences one a line: a headline does not run into what follows, and ROUGE-Lsum can read it.
        return "\n".join(summary.lines) if policy.unit == "sentence" else summary.text

    entries = read_inputs(inputs, encoding=encoding, text_column=text_column)
    write_summaries(inputs, entries, work, text_of, output, json)


def _budget(units: int | None, words: int | None, ratio: float | None) -> Budget | None:
    """Return the requested length; none for the default of the model."""
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
    """Return what gives the parser: the scorer's own, if its scores depend on one, or the one of a name."""
    from discsum.parsers.loading import load_parser

    own = scorer.parser
    if own is None:
        return lambda: load_parser(name or SHIPPED_PARSER)
    if name is not None and load_parser(name).fingerprint != own.fingerprint:
        raise typer.BadParameter(f"{scorer.name} reads the vectors of its own parser", param_hint="--parser")
    return lambda: own
