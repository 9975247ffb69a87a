"""`discsum evaluate` of parsers on a treebank."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from discsum.baselines import BASELINES
from discsum.cli.command import as_usage
from discsum.cli.progress import loading
from discsum.constants import ORACLE, PARSER_KIND
from discsum.devices import check_device
from discsum.errors import InputError
from discsum.persistence import read_config

if TYPE_CHECKING:
    from discsum.parsers.training.evaluation import ParserScores


def show_parsers(
    models: Sequence[str], data: Path, split: str, rows: slice, rst: bool, style: str, device: str
) -> None:
    """Print the scores of each parser on the documents `rows` of a split of a treebank."""
    from discsum.parsers.training.splits import read_split

    for model in models:
        if model in (*BASELINES, ORACLE):
            raise typer.BadParameter(f"expected parsers for the treebank {data}, got the summarizer {model}")
        read_config(model, PARSER_KIND)
    # On treebanks other than GUM, each parser is scored on the splits that it was trained with.
    splits = read_split(data, split, models)
    for gold in splits:
        if not gold[rows]:
            raise InputError(
                f"{data}: expected documents of {split} between --first and --last, got none; {split} has {len(gold)}"
            )
    with loading("the parser"):
        with as_usage():
            check_device(device)
        from discsum.parsers.loading import load_parser
        from discsum.parsers.training.evaluation import evaluate_parser

    figures = []
    for model, gold in zip(models, splits, strict=True):
        with loading(model):
            parser = load_parser(model, device)
        chosen = gold[rows]
        scores = evaluate_parser(parser, chosen, rst=rst)
        if style == "json":
            figures.append({"model": model, "first": rows.start, "documents": len(chosen), **scores.to_dict()})
        else:
            some = "" if len(chosen) == len(gold) else f", {len(chosen)} of {len(gold)} documents from {rows.start}"
            typer.echo(f"{model} on {data} {split}{some}")
            _print_scores(scores, style)
    if style == "json":
        typer.echo(json.dumps({"data": str(data), "split": split, "models": figures}, indent=1))


def _print_scores(scores: ParserScores, style: str) -> None:
    units = {"EDU starts, raw text": scores.edus, "sentence starts, raw text": scores.sentences}
    trees = {
        "trees, gold EDUs and sentences": scores.gold,
        "trees, raw text, start-keyed": scores.raw_start,
        "trees, raw text, end-keyed": scores.raw_end,
    }
    figures = {name: {"P": one.precision, "R": one.recall, "F1": one.f1} for name, one in units.items()}
    parseval = {
        name: {"S": one.span, "N": one.nuclearity, "R": one.relation, "F": one.full} for name, one in trees.items()
    }
    signatures = {name: one.signature for name, one in units.items()}
    signatures |= {name: one.signature for name, one in trees.items()}
    if style == "markdown":
        from discsum.experiments.report import aligned

        for table in (figures, parseval):
            cells = [[name, *(f"{value:.1f}" for value in row.values())] for name, row in table.items()]
            typer.echo(aligned([["", *next(iter(table.values()))], *cells], style) + "\n")
        for name, signature in signatures.items():
            typer.echo(f"- {name}: `{signature}`")
        return
    for name, row in {**figures, **parseval}.items():
        typer.echo(f"{name:42} " + "  ".join(f"{key} {value:5.1f}" for key, value in row.items()))
        typer.echo(f"    {signatures[name]}")
