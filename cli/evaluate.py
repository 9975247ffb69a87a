"""`discsum evaluate`: models against gold trees or reference summaries."""

from __future__ import annotations

import json as json_format
from pathlib import Path
from typing import Annotated

import typer

from discsum.choices import SHIPPED_PARSER
from discsum.cli.options import ParserName
from discsum.errors import InputError


def evaluate(
    models_and_data: Annotated[
        list[str],
        typer.Argument(
            metavar="MODEL... DATA",
            help="Parsers and a checkout of GUM, or summarizers and a table of texts with summaries.",
            show_default=False,
        ),
    ],
    split: Annotated[str, typer.Option(help="Split of the treebank.")] = "dev",
    rst_parseval: Annotated[
        bool, typer.Option("--rst-parseval", help="RST-Parseval instead of original Parseval.")
    ] = False,
    unit: Annotated[str, typer.Option(metavar="sentence|edu", help="What summaries are made of.")] = "sentence",
    units: Annotated[int | None, typer.Option("--units", "-n", help="Units of a summary. Default: 3 or 6.")] = None,
    text_column: Annotated[str | None, typer.Option(help="Column of the texts. Default: article or text.")] = None,
    summary_column: Annotated[
        str | None, typer.Option(help="Column of the references. Default: references, highlights or summary.")
    ] = None,
    first: Annotated[int, typer.Option(help="First row of the table, from 0.")] = 0,
    last: Annotated[int | None, typer.Option(help="First row not taken any more.")] = None,
    parser: ParserName = SHIPPED_PARSER,
    json: Annotated[bool, typer.Option("--json", help="JSON instead of a table.")] = False,
) -> None:
    """Measure parsers on gold trees, or summarizers on reference summaries.

    Summarizers are shipped models, folders, baselines (lead, random, textrank, marcu, tree-knapsack), or oracle.

    Example: discsum evaluate discsum-gum gum --split dev
    """
    *models, data = models_and_data
    if not models:
        raise typer.BadParameter("expected at least one model and the data, as in: discsum evaluate discsum-gum gum")
    if not Path(data).exists():
        raise InputError(f"{data}: no such file or folder")
    from discsum.parsers.treebank import is_treebank

    if is_treebank(Path(data)):
        if unit != "sentence" or units is not None:
            raise typer.BadParameter(f"{data} is a treebank: --unit and --units are for tables of texts with summaries")
        for model in models:
            _evaluate_parser(model, Path(data), split, rst_parseval, json)
        return
    if rst_parseval or split != "dev":
        raise typer.BadParameter(
            f"{data} is no treebank (a folder with dep and rst): --split and --rst-parseval are for treebanks"
        )
    from discsum.cli.summary_scores import compare, policy_of

    columns = (text_column, summary_column)
    compare(models, Path(data), policy_of(unit, units), parser, columns, (first, last), json)


def _evaluate_parser(model: str, data: Path, split: str, rst: bool, json: bool) -> None:
    from discsum.cli.models import load_parser
    from discsum.parsers.training.evaluation import evaluate_parser
    from discsum.parsers.treebank import read_gum

    scores = evaluate_parser(load_parser(model), read_gum(data, split), rst=rst)
    if json:
        typer.echo(json_format.dumps({"model": model, "split": split, **scores.to_dict()}, indent=1))
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
