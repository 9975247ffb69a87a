"""`discsum evaluate`: scores of models on gold trees or reference summaries."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from discsum.abstractive.sparse.costs import GATHERED, SELECTING
from discsum.cli.choices import choice
from discsum.cli.command import as_usage, check_unused, command_app
from discsum.cli.completion import parsers, recipes, systems
from discsum.cli.documents import Run
from discsum.cli.evaluate_checks import check_against, check_data, check_files, check_kinds, check_names, check_parser
from discsum.cli.options import (
    OF_INPUTS,
    OF_SELECTION,
    Beams,
    BlockTrigrams,
    Brevity,
    CoveragePenalty,
    Device,
    HeadFiles,
    Layout,
    LengthPenalty,
    MaxTokens,
    MinTokens,
    Ratio,
    ReadSentences,
    Redundancy,
    Selector,
    SummaryColumn,
    TextColumn,
    Truncate,
    Units,
    Words,
    no_standard_input,
)
from discsum.cli.output_paths import local_path
from discsum.cli.paper_tables import (
    OF_TABLES,
    Draws,
    LowResource,
    RowSettings,
    Runs,
    Seeds,
    Setting,
    Table,
    show_parameters,
    show_table,
)
from discsum.cli.progress import counting, loading, say
from discsum.constants import BEAMS, HUB, ORACLE, SHIPPED_PARSER, UNITS
from discsum.data.made_folder import has_parts, is_dataset_folder
from discsum.data.storage import is_pattern, location
from discsum.data.summaries import is_summaries
from discsum.devices import check_device
from discsum.errors import InputError
from discsum.files import is_device

if TYPE_CHECKING:
    from discsum.experiments.comparison import ModelScores
    from discsum.experiments.systems import System
    from discsum.selection import Policy

app = command_app()

OF_PARSERS = "Options for parsers"
# Parameters that apply to parsers.
WITH_TREEBANK = (
    *("models_and_data", "split", "first", "last", "rst_parseval"),
    *("classes", "device", "style", "signature", "against", "output"),
)
# Output formats of the scores.
STYLES = ("table", "markdown", "json")


def _lines_file(name: str | None) -> str | None:
    if name is not None and not name.lower().endswith((".jsonl", ".jsonl.gz")) and not is_device(Path(name)):
        raise typer.BadParameter(f"expected a .jsonl or .jsonl.gz file, got {name}")
    return local_path(name)


@app.command()
def evaluate(
    context: typer.Context,
    models_and_data: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[MODEL...] DATA",
            callback=no_standard_input,
            autocompletion=systems,
            help="Parsers, or folders of their trees, and a treebank; or summarizers, tables of summaries, or folders "
            "of them that --shards wrote, and a table of texts with summaries or a folder that discsum preprocess "
            "made.",
            show_default=False,
        ),
    ] = None,
    split: Annotated[
        str, typer.Option(help="Split of the treebank: train, dev, test or all.", rich_help_panel=OF_PARSERS)
    ] = "dev",
    rst_parseval: Annotated[
        bool,
        typer.Option("--rst-parseval", help="Use RST-Parseval, not original Parseval.", rich_help_panel=OF_PARSERS),
    ] = False,
    classes: Annotated[
        str | None,
        typer.Option(
            metavar="RECIPE",
            autocompletion=recipes,
            help="Recipe with the classes by which relations are compared, such as parser-rst-dt, or a YAML file with "
            "the field classes. Default: those of the parser, or of the treebank.",
            rich_help_panel=OF_PARSERS,
        ),
    ] = None,
    unit: Annotated[
        str, typer.Option(**choice(*UNITS), help="Unit of the summaries.", rich_help_panel=OF_SELECTION)
    ] = "sentence",
    units: Units = None,
    words: Words = None,
    ratio: Ratio = None,
    text_column: TextColumn = None,
    summary_column: SummaryColumn = None,
    block_trigrams: BlockTrigrams = None,
    redundancy: Redundancy = None,
    brevity: Brevity = None,
    layout: Layout = "keep",
    first: Annotated[
        int,
        typer.Option(min=0, help="First row of the data, or document of the split, from 0.", rich_help_panel=OF_INPUTS),
    ] = 0,
    last: Annotated[
        int | None, typer.Option(min=0, help="End of the rows or documents (exclusive).", rich_help_panel=OF_INPUTS)
    ] = None,
    parser: Annotated[
        str | None,
        typer.Option(
            autocompletion=parsers,
            help="Name or folder of the parser of texts and summaries, or hf:NAME from the hub. Default: that of the "
            f"trained models, or {SHIPPED_PARSER} if there are none, if they have different ones, or with --table.",
        ),
    ] = None,
    device: Device = "cpu",
    head_files: HeadFiles = None,
    against: Annotated[
        list[str] | None,
        typer.Option(
            help="A listed model to compare the others with; may be repeated. Default: the first.", metavar="MODEL"
        ),
    ] = None,
    selector: Selector = None,
    r: ReadSentences = None,
    beams: Beams = BEAMS,
    min_tokens: MinTokens = None,
    max_tokens: MaxTokens = None,
    truncate: Truncate = False,
    length_penalty: LengthPenalty = None,
    coverage_penalty: CoveragePenalty = None,
    output: Annotated[
        str | None,
        typer.Option(
            "--output",
            "-o",
            callback=_lines_file,
            help="A .jsonl or .jsonl.gz file for the scores of each document (of parsers, the counts); with --table "
            "coarse-to-fine or faster-encoders its summaries too.",
        ),
    ] = None,
    style: Annotated[
        str,
        typer.Option("--format", "-f", **choice(*STYLES), help="Output format of the scores."),
    ] = "table",
    signature: Annotated[
        bool, typer.Option("--signature", help="Print the signature of each figure, not only of each model.")
    ] = False,
    parameters: Annotated[
        bool,
        typer.Option(
            "--parameters",
            help="Print the parameter counts of the models; without models and data, of every row of tables 2 and 3.",
        ),
    ] = False,
    table: Table = None,
    setting: Setting = None,
    runs: Runs = "runs",
    settings: RowSettings = None,
    low_resource: LowResource = False,
    draws: Draws = 1,
    seeds: Seeds = None,
) -> None:
    """Evaluate parsers on gold trees, summarizers on references.

    A summarizer is a shipped model, a folder, a baseline (discsum extract --help lists them), oracle, a
    sequence-to-sequence model that discsum abstract takes, or a table with the columns id and summary that any other
    program wrote.

    Example: discsum evaluate lead discsum-news-sentence oracle news.jsonl --format markdown
    """
    *models, data = models_and_data or [""]
    if twice := [name for name, times in Counter(models).items() if times > 1]:
        raise typer.BadParameter(f"expected each model once, got {', '.join(twice)} twice")
    if parameters:
        check_unused(context, ("models_and_data", "parameters", "head_files", "style"), "with --parameters")
        show_parameters([*models, data] if data else [], style)
        return
    if not data or not (models or table):
        raise typer.BadParameter(
            "expected at least one model and the data, as in: discsum evaluate discsum-gum gum, for a parser, or "
            "discsum evaluate lead news.jsonl, for a summarizer"
        )
    place = location(data)
    if isinstance(place, Path) and not (place.exists() or is_pattern(place) or data.startswith(HUB)):
        raise InputError(f"{data}: no such file or folder")
    if table is not None:
        show_table(context, models, data)
        return
    check_unused(context, context.params.keys() - {*OF_TABLES}, "without --table")
    from discsum.cli.parser_scores import show_parsers
    from discsum.data.pairs import PairSource
    from discsum.parsers.tree_folder import has_trees
    from discsum.parsers.treebank import is_gum_checkout

    # Summaries that are there already need references only.
    source = PairSource(
        data, text_column, summary_column, texts=text_column is not None or not all(map(is_summaries, models))
    )
    # Checked before `is_gum_checkout`: folders of texts with summaries contain JSON files too.
    texts = is_dataset_folder(place) or has_parts(place) or source.is_saved
    if isinstance(place, Path) and not (texts or is_gum_checkout(place)):
        check_data(place)
    if isinstance(place, Path) and not texts and (is_gum_checkout(place) or has_trees(place)):
        check_unused(context, WITH_TREEBANK, "with a treebank")
        check_against(against, models)
        show_parsers(models, place, split, slice(first, last), rst_parseval, style, device, against, output, classes)
        return
    from discsum.abstractive.folder import is_sequence_to_sequence
    from discsum.abstractive.generation import Generation

    check_unused(context, context.params.keys() - {"split", "rst_parseval", "classes"}, "with texts with summaries")
    written = {name for name in models if is_summaries(name)}
    generated = {name for name in models if is_sequence_to_sequence(name)} - written
    extractive = [name for name in models if name not in generated | written]
    check_against(against, models)
    rules = {"block_trigrams": block_trigrams, "redundancy": redundancy, "brevity": brevity, "layout": layout}
    with as_usage():
        policy = _policy(unit, {"units": units, "words": words, "ratio": ratio}, **rules)
    # First, because the kind of an unknown model is unknown too.
    check_names(extractive, policy, parser, selector)
    check_kinds(context, extractive, generated)
    check_parser(context, data, generated | written)
    with as_usage():
        generation = Generation(
            beams, min_tokens, max_tokens, truncate, length_penalty, coverage_penalty, bool(block_trigrams)
        )
    check_files(source, first, last, output, written)
    run = Run()
    with loading("the models"):
        from discsum.experiments.comparison import MeasuredRows, measure
        from discsum.experiments.report import comparison_report, write_entries
        from discsum.experiments.systems import load_systems

        with as_usage():
            check_device(device)
        systems, engine = load_systems(models, policy, parser, generation, selector, r, device)
    if parser is None and not is_dataset_folder(place):
        _note_parser(systems)
    length = units, words, ratio
    _note_systems(systems, policy, given=any(one is not None for one in length))
    results = measure(
        systems,
        MeasuredRows(place, text_column, summary_column, first, last, source.texts),
        policy,
        engine,
        lambda failure: run.fail(failure.source, failure.reason),
        counting,
    )
    run.done = len(results[0].selections)
    others = [result for result in results if result.name in (against or models[:1])]
    rows = [result.row(others) for result in results]
    typer.echo(
        comparison_report(data, run.done, rows, [result.rouge.signature for result in results], style, signature)
    )
    if output is not None:
        write_entries(Path(output), [entry for result in results for entry in result.documents()])
    _note_whole(results)
    _note_oracle(results, length)
    run.finish()


def _note_parser(systems: Sequence[System]) -> None:
    """Report on standard error if texts are parsed by a parser other than the shipped one, that of trained models."""
    own = {system.parser.fingerprint: system.parser.name for system in systems if system.parser is not None}
    if len(own) == 1 and (name := next(iter(own.values()))) != SHIPPED_PARSER:
        say(f"discsum: texts are parsed by {name}, the parser of the trained models")


def _note_systems(systems: Sequence[System], policy: Policy, *, given: bool) -> None:
    """Report on standard error models whose own default length is not the evaluation's, unless one was `given`."""
    length = policy.budget.units
    for system in systems:
        if not given and system.default_units not in (None, length):
            say(
                f"discsum: {system.name}: measured with {length} units like all models; its own length is "
                f"{system.default_units} (--units {system.default_units})"
            )


def _note_oracle(results: Sequence[ModelScores], length: tuple[int | None, int | None, float | None]) -> None:
    """Report on standard error if the oracle is measured at another length than the given one."""
    units, *in_words = length
    for result in results:
        if result.name != ORACLE:
            continue
        limit = dict(result.rouge.signature.fields).get("oracle-units")
        if any(one is not None for one in in_words):
            say(f"discsum: {ORACLE}: measured at its own length: it has no limit in words")
        elif units is not None and limit != str(units):
            say(f"discsum: {ORACLE}: measured by the folder's labels, made for another length (oracle-units:{limit})")


def _note_whole(results: Sequence[ModelScores]) -> None:
    """Report on standard error how many documents a model read whole although it selects sentences."""
    for result in results:
        if whole := sum(one.summary.read_whole for one in result.selections):
            say(
                f"discsum: {result.name}: expected selected sentences, got all sentences of {whole} of "
                f"{len(result.selections)} documents: one of fewer than {GATHERED} * (r + {SELECTING}) "
                "sentences is read whole, because that is faster"
            )


def _policy(unit: str, lengths: Mapping[str, Any], **rules: Any) -> Policy:
    """Return the policy of an evaluation, see `default_policy`, with the length that is given, if any.

    EDUs are selected with their dependencies.

    Raises:
        InputError: Several lengths, or one out of range.
    """
    from discsum.selection import Budget, default_policy

    given = {name: value for name, value in lengths.items() if value is not None}
    policy = default_policy(unit, **rules)
    return replace(policy, budget=Budget(**given)) if given else policy
