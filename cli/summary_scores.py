"""The table of `discsum evaluate` for summarizers."""

from __future__ import annotations

import json as json_format
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import typer

from discsum.choices import DEFAULT_UNITS, UNITS
from discsum.cli.documents import Run, check_choice
from discsum.cli.models import load_parser, load_scorer
from discsum.cli.progress import counting
from discsum.data.summaries import read_pairs
from discsum.data.tables import Failure
from discsum.errors import InputError
from discsum.evaluation import ORACLE, compare_models
from discsum.selection import Budget, Policy

HEADINGS = {"rouge1": "R-1", "rouge2": "R-2", "rougeLsum": "R-Lsum"}


def compare(
    models: Sequence[str],
    data: Path,
    policy: Policy,
    parser: str,
    columns: tuple[str | None, str | None],
    rows: tuple[int, int | None],
    json: bool,
) -> None:
    """Print the scores of the models on rows of a table, each compared with the first model."""
    run, pairs = Run(), []
    for pair in read_pairs(data, text_column=columns[0], summary_column=columns[1], first=rows[0], last=rows[1]):
        if isinstance(pair, Failure):
            run.fail(pair.source, pair.reason)
        else:
            pairs.append(pair)
    if not pairs:
        raise InputError(f"{data}: expected texts with reference summaries, got none")
    scorers = [(name, None if name == ORACLE else load_scorer(name, policy.unit)) for name in models]
    with counting("measured", len(pairs)) as show:
        results = compare_models(pairs, scorers, policy, load_parser(parser), show)
    run.done = len(pairs)
    _print(data, len(pairs), [result.row(results[0]) for result in results], results[0].rouge.signature, json)
    run.finish()


def _print(data: Path, documents: int, table: list[dict[str, Any]], signature: str, json: bool) -> None:
    if json:
        head = {"data": str(data), "documents": documents, "signature": signature}
        typer.echo(json_format.dumps({**head, "models": table}, indent=1))
        return
    typer.echo(f"{data}: {documents} documents; differences from {table[0]['model']}, paired bootstrap")
    width = max(len(row["model"]) for row in table) + 2
    typer.echo(" " * width + "".join(f"{heading:>26}" for heading in HEADINGS.values()) + "   words")
    for row in table:
        typer.echo(
            f"{row['model']:{width}}" + "".join(_cell(row[metric]) for metric in HEADINGS) + f"{row['words']:8.1f}"
        )
    typer.echo(f"signature: {signature}")


def policy_of(unit: str, units: int | None) -> Policy:
    """Return the policy of an evaluation: the usual length of the unit, dependencies between EDUs."""
    check_choice("--unit", unit, UNITS)
    if units is not None and units < 1:
        raise typer.BadParameter(f"expected at least 1, got {units}", param_hint="--units")
    return Policy(Budget(units=DEFAULT_UNITS[unit] if units is None else units), unit, dependencies=unit == "edu")


def _cell(values: dict[str, Any]) -> str:
    if "difference" not in values:
        return f"{values['mean']:26.2f}"
    probability = "p<.001" if values["p"] < 0.001 else f"p={values['p']:.3f}".replace("0.", ".")
    return f"{values['mean']:8.2f} {values['difference']:+7.2f} {probability:>9}"
