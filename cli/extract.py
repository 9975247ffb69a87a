"""`discsum extract`: text or tree to an extractive summary."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from discsum.cli.documents import check_choice, write_summaries
from discsum.cli.options import Encoding, Inputs, Output, Sentences, TextColumn
from discsum.cli.train import HeadFiles
from discsum.constants import DEFAULT_UNITS, SENTENCES, SHIPPED_PARSER, UNITS
from discsum.data.inputs import Item, read_inputs

if TYPE_CHECKING:
    from discsum.parsers.parser import Encoded
    from discsum.scoring import Scorer
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
        typer.Option(help="A shipped model, a folder, or lead, random, textrank, marcu, tree-knapsack."),
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
    from discsum.cli.models import load_scorer

    check_choice("--sentences", sentences, SENTENCES)
    if unit is not None:
        check_choice("--unit", unit, UNITS)
    given = _budget(units, words, ratio)
    scorer = load_scorer(model, unit)
    policy = _policy(scorer, unit, given, dependencies, block_trigrams)

    def work(items: Sequence[Item]) -> list[Summary]:
        return _summaries(items, policy, scorer, sentences, parser, tidy)

    def text_of(summary: Summary) -> str:
        # Sentences one a line: a headline does not run into what follows, and ROUGE-Lsum can read it.
        return "\n".join(summary.lines) if policy.unit == "sentence" else summary.text

    entries = read_inputs(inputs, encoding=encoding, text_column=text_column)
    write_summaries(inputs, entries, work, text_of, output, json)


def _budget(units: int | None, words: int | None, ratio: float | None) -> Budget | None:
    """Return the length that is asked for; none if the model is to say."""
    from discsum.errors import InputError
    from discsum.selection import Budget

    if units is None and words is None and ratio is None:
        return None
    try:
        return Budget(units, words, ratio)
    except InputError as error:
        raise typer.BadParameter(str(error)) from error


def _policy(
    scorer: Scorer, unit: str | None, given: Budget | None, dependencies: bool | None, trigrams: bool
) -> Policy:
    from discsum.errors import InputError
    from discsum.scoring import Selector
    from discsum.selection import Budget, Policy
    from discsum.summarizer.extractive import ExtractiveSummarizer

    trained = scorer.config if isinstance(scorer, ExtractiveSummarizer) else None
    chosen = unit or (trained.unit if trained else "sentence")
    usual = trained.units if trained else DEFAULT_UNITS[chosen]
    if trigrams and isinstance(scorer, Selector):
        raise typer.BadParameter(f"{scorer.name} selects by a rule of its own", param_hint="--block-trigrams")
    try:
        wanted = chosen == "edu" if dependencies is None else dependencies
        return Policy(given or Budget(usual), chosen, trigrams, wanted)
    except InputError as error:
        raise typer.BadParameter(str(error)) from error


def _summaries(
    items: Sequence[Item], policy: Policy, scorer: Scorer, sentences: str, parser: str | None, tidy: bool
) -> list[Summary]:
    """Return the summaries of texts and trees; trees keep their own EDUs and structure."""
    from discsum.cli.models import load_parser
    from discsum.scoring import extract as summary_of
    from discsum.summarizer.extractive import ExtractiveSummarizer

    if parser is not None and isinstance(scorer, ExtractiveSummarizer):
        own = scorer.parser.fingerprint
        if load_parser(parser).fingerprint != own:
            raise typer.BadParameter(f"{scorer.name} reads the vectors of its own parser", param_hint="--parser")
    texts = [item for item in items if item.document is None]
    bare = any(item.document is not None and item.document.tree is None for item in items)
    parsed: Iterator[Encoded] = iter(())
    if texts or bare:
        # A trained summarizer reads the vectors of its own parser; trees need none.
        engine = scorer.parser if isinstance(scorer, ExtractiveSummarizer) else load_parser(parser or SHIPPED_PARSER)
    if texts:
        parsed = iter(
            engine.encode([item.text for item in texts], sentences=sentences, ids=[item.id for item in texts])
        )
    results = []
    for item in items:
        if item.document is None:
            encoded = next(parsed)
            scores = scorer.scores([encoded])[0] if isinstance(scorer, ExtractiveSummarizer) else None
            results.append(summary_of(encoded.document, scorer, policy, scores=scores, tidy=tidy))
        else:
            document = item.document if item.document.tree else engine.encode_document(item.document).document
            results.append(summary_of(document.with_id(item.id), scorer, policy, tidy=tidy))
    return results
