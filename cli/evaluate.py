"""`discsum evaluate`: scores of models on gold trees or reference summaries."""

from __future__ import annotations

import json
from collections.abc import Collection
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from discsum.cli.documents import Run, check_choice
from discsum.cli.options import Beams, MaxTokens, MinTokens, ParserName, ReadSentences, Selector, Truncate
from discsum.cli.train import HeadFiles
from discsum.constants import BEAMS, LAYOUTS, SHIPPED_PARSER, UNITS
from discsum.errors import InputError

if TYPE_CHECKING:
    from discsum.selection import Policy

app = typer.Typer(add_completion=False)

# Formats of the figures.
STYLES = ("table", "markdown", "json")
# Options of sequence-to-sequence models.
OF_GENERATION = ("selector", "r", "beams", "min_tokens", "max_tokens", "truncate")
# Options of --table, including itself.
OF_TABLES = ("table", "setting", "runs", "settings", "low_resource", "draws")


@app.command()
def evaluate(
    context: typer.Context,
    models_and_data: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[MODEL...] DATA",
            help="Parsers and a treebank, or summarizers and a table of texts with summaries or a folder that "
            "discsum preprocess made.",
            show_default=False,
        ),
    ] = None,
    split: Annotated[str, typer.Option(help="Split of the treebank: train, dev, test or all.")] = "dev",
    rst_parseval: Annotated[
        bool, typer.Option("--rst-parseval", help="RST-Parseval instead of original Parseval.")
    ] = False,
    unit: Annotated[str, typer.Option(metavar="sentence|edu", help="Unit of the summaries.")] = "sentence",
    units: Annotated[
        int | None, typer.Option("--units", "-n", help="Units per summary. Default: 3 sentences or 6 EDUs.")
    ] = None,
    text_column: Annotated[str | None, typer.Option(help="Column of the texts. Default: article or text.")] = None,
    summary_column: Annotated[
        str | None, typer.Option(help="Column of the references. Default: references, highlights or summary.")
    ] = None,
    block_trigrams: Annotated[
        bool, typer.Option("--block-trigrams", help="Skip units that share a trigram with the summary.")
    ] = False,
    layout: Annotated[
        str, typer.Option(metavar="skip|keep", help="Whether headings, bylines, list fragments and code are skipped.")
    ] = "keep",
    first: Annotated[int, typer.Option(min=0, help="First row of the data, from 0.")] = 0,
    last: Annotated[int | None, typer.Option(min=0, help="End of the rows (exclusive).")] = None,
    parser: ParserName = SHIPPED_PARSER,
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
    output: Annotated[
        str | None,
        typer.Option("--output", "-o", help="A .jsonl or .jsonl.gz file for the scores of each document."),
    ] = None,
    style: Annotated[
        str, typer.Option("--format", "-f", metavar="|".join(STYLES), help="Format of the figures.")
    ] = "table",
    signature: Annotated[bool, typer.Option("--signature", help="Print the signature of every figure.")] = False,
    parameters: Annotated[
        bool,
        typer.Option(
            "--parameters", help="Print the parameter counts of the models, or of every row of the paper's tables."
        ),
    ] = False,
    table: Annotated[
        int | None,
        typer.Option(
            metavar="2|3",
            help="Train and evaluate every row of this table of Xiao et al. 2020 on DATA/train, DATA/validation and "
            "DATA/test, folders that discsum preprocess made.",
        ),
    ] = None,
    setting: Annotated[
        str | None, typer.Option(metavar="default|balanced", help="Only the table's rows of this setting.")
    ] = None,
    runs: Annotated[str, typer.Option(help="Folder of the table's runs; finished runs are reused.")] = "runs",
    settings: Annotated[
        list[str] | None, typer.Option("--set", metavar="KEY=VALUE", help="Fields of the table's recipes to change.")
    ] = None,
    low_resource: Annotated[
        bool,
        typer.Option(
            "--low-resource",
            help="The table's rows with the fields of xiao2020/UNIT-low-resource: 1,000 training documents.",
        ),
    ] = False,
    draws: Annotated[
        int,
        typer.Option(min=1, help="Random training sets per row of the table, with --low-resource or --set sample=N."),
    ] = 1,
) -> None:
    """Evaluate parsers on gold trees, or summarizers on reference summaries.

    Summarizers are shipped models, folders, baselines (as discsum extract --model lists them), oracle, or
    sequence-to-sequence models as for discsum abstract, which --selector to --truncate apply to.

    Example: discsum evaluate lead discsum-news-sentence oracle news.jsonl --format markdown
    """
    check_choice("--format", style, STYLES)
    *models, data = models_and_data or [""]
    if parameters:
        from discsum.cli.paper_tables import show_parameters

        _check_unused(context, ("models_and_data", "parameters", "head_files", "style"), "--parameters")
        show_parameters([*models, data] if data else [], style)
        return
    if not data or not (models or table):
        raise typer.BadParameter("expected at least one model and the data, as in: discsum evaluate discsum-gum gum")
    if not Path(data).exists():
        raise InputError(f"{data}: no such file or folder")
    if table is not None:
        from discsum.cli.paper_tables import show_table

        if models:
            raise typer.BadParameter(f"expected DATA alone with --table, got {', '.join(models)} before it")
        _check_unused(context, ("models_and_data", *OF_TABLES, "head_files", "output", "style"), "--table")
        places = Path(data), Path(runs)
        show_table(table, setting, *places, settings or [], draws, output, style, scarce=low_resource)
        return
    from discsum.parsers.tree_folder import has_trees
    from discsum.parsers.treebank import is_treebank

    if is_treebank(Path(data)) or has_trees(Path(data)):
        _check_unused(context, ("models_and_data", "split", "rst_parseval", "style"), "a treebank")
        for model in models:
            _evaluate_parser(model, Path(data), split, rst_parseval, style)
        return
    from discsum.abstractive.folder import is_sequence_to_sequence
    from discsum.abstractive.generation import Generation

    _check_unused(context, context.params.keys() - {"split", "rst_parseval", *OF_TABLES}, "texts with summaries")
    unused = () if any(map(is_sequence_to_sequence, models)) else OF_GENERATION
    _check_unused(context, context.params.keys() - {*unused}, "extractive models")
    unknown = [name for name in against or [] if name not in models]
    if unknown:
        raise typer.BadParameter(
            f"expected some of {', '.join(models)}, got {', '.join(unknown)}", param_hint="--against"
        )
    from discsum.cli.progress import counting
    from discsum.experiments.comparison import MeasuredRows, measure
    from discsum.experiments.report import comparison_report, write_documents
    from discsum.experiments.systems import load_system
    from discsum.parsers.loading import load_parser

    policy, engine, run = _policy(unit, units, block_trigrams, layout), partial(load_parser, parser), Run()
    generation = Generation(beams, min_tokens, max_tokens, truncate)
    results = measure(
        [load_system(name, policy, engine, generation, selector, r) for name in models],
        MeasuredRows(Path(data), text_column, summary_column, first, last),
        policy,
        engine,
        lambda failure: run.fail(failure.source, failure.reason),
        lambda documents: counting("evaluated", documents),
    )
    run.done = len(results[0].selections)
    others = [result for result in results if result.name in (against or models[:1])]
    rows = [result.row(others) for result in results]
    typer.echo(comparison_report(data, run.done, rows, results[0].rouge.signature, style, signature))
    if output is not None:
        write_documents(Path(output), results)
    run.finish()


def _check_unused(context: typer.Context, used: Collection[str], what: str) -> None:
    """Raise `BadParameter` for options given on the command line that are not in `used`."""
    options = {"style": "--format", "settings": "--set", "head_files": "--head-file"}
    unused = []
    for name in context.params:
        source = context.get_parameter_source(name)
        if name not in used and source is not None and source.name != "DEFAULT":
            unused.append(options.get(name, f"--{name.replace('_', '-')}"))
    if unused:
        raise typer.BadParameter(f"expected no {', '.join(sorted(unused))} with {what}")


def _policy(unit: str, units: int | None, block_trigrams: bool, layout: str) -> Policy:
    """Return the policy of an evaluation: usual length, dependencies between EDUs."""
    from discsum.selection import usual_policy

    check_choice("--unit", unit, UNITS)
    check_choice("--layout", layout, LAYOUTS)
    if units is not None and units < 1:
        raise typer.BadParameter(f"expected at least 1, got {units}", param_hint="--units")
    return usual_policy(unit, units, block_trigrams=block_trigrams, layout=layout)


def _evaluate_parser(model: str, data: Path, split: str, rst: bool, style: str) -> None:
    from discsum.parsers.loading import load_parser
    from discsum.parsers.training.evaluation import evaluate_parser
    from discsum.parsers.training.splits import read_split

    scores = evaluate_parser(load_parser(model), read_split(data, split, model), rst=rst)
    if style == "json":
        typer.echo(json.dumps({"model": model, "split": split, **scores.to_dict()}, indent=1))
        return
    typer.echo(f"{model} on {data} {split}")
    for name, segmented in (("EDU starts, raw text", scores.edus), ("sentence starts, raw text", scores.sentences)):
        typer.echo(f"{name:42} P {segmented.precision:5.1f}  R {segmented.recall:5.1f}  F1 {segmented.f1:5.1f}")
        typer.echo(f"    {segmented.signature}")
    for name, trees in (
        ("trees, gold EDUs", scores.gold),
        ("trees, raw text, start-keyed", scores.raw_start),
        ("trees, raw text, end-keyed", scores.raw_end),
    ):
        typer.echo(
            f"{name:42} S {trees.span:5.1f}  N {trees.nuclearity:5.1f}  R {trees.relation:5.1f}  F {trees.full:5.1f}"
        )
        typer.echo(f"    {trees.signature}")
