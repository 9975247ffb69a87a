"""The figures of `discsum evaluate` for summarizers, and how they are shown."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import typer

from discsum.cli.documents import check_choice
from discsum.constants import UNITS
from discsum.experiments.comparison import ModelScores
from discsum.files import replacing, to_line
from discsum.selection import Policy, usual_policy

HEADINGS = {"rouge1": "R-1", "rouge2": "R-2", "rougeLsum": "R-Lsum"}


def policy_of(unit: str, units: int | None, block_trigrams: bool) -> Policy:
    """Return the policy of an evaluation: the usual length of the unit, dependencies between EDUs."""
    check_choice("--unit", unit, UNITS)
    if units is not None and units < 1:
        raise typer.BadParameter(f"expected at least 1, got {units}", param_hint="--units")
    return usual_policy(unit, units, block_trigrams=block_trigrams)


def write_documents(path: Path, results: Sequence[ModelScores]) -> None:
    """Write every document's scores, a JSON object a line; gzipped where the name ends in `.gz`."""
    import gzip

    lines = "".join(to_line(entry) for result in results for entry in result.documents()).encode()
    with replacing(path) as partial:
        # Without the time in its header the same scores are the same bytes.
        partial.write_bytes(gzip.compress(lines, mtime=0) if path.suffix == ".gz" else lines)


def show(
    data: str, documents: int, rows: Sequence[dict[str, Any]], signature: str, style: str, signatures: bool
) -> None:
    """Print the figures.

    Args:
        data: What they were measured on.
        documents: How many documents that are.
        rows: What `ModelScores.row` gives.
        signature: What all of them depend on.
        style: `table`, `markdown` or `json`.
        signatures: Whether each row is followed by its own signatures.
    """
    if style == "json":
        typer.echo(
            json.dumps({"data": data, "documents": documents, "signature": signature, "models": list(rows)}, indent=1)
        )
        return
    cells = [["model", *HEADINGS.values(), "words", "place", "in oracle", "parameters", "docs/s"]]
    for row in rows:
        figures = [
            f"{row[metric]['mean']:.2f} [{row[metric]['low']:.2f}, {row[metric]['high']:.2f}]" for metric in HEADINGS
        ]
        parameters = "" if row["parameters"] is None else f"{row['parameters']:,}"
        middle = "" if row["place"] is None else f"{row['place']:.2f}"
        others = [f"{row['words']:.1f}", middle, f"{row['overlap']:.2f}", parameters]
        cells.append([row["model"], *figures, *others, f"{row['documents_a_second']:.0f}"])
    typer.echo(f"{data}: {documents} documents")
    print_cells(cells, style)
    paired = [["paired bootstrap", *HEADINGS.values()]]
    for row in rows:
        for place, other in enumerate(row["rouge1"]["against"]):
            found = [row[metric]["against"][place] for metric in HEADINGS]
            differences = [f"{one['difference']:+.2f} {probability(one['p'])}" for one in found]
            paired.append([f"{row['model']} - {other['model']}", *differences])
    if len(paired) > 1:
        typer.echo()
        print_cells(paired, style)
    typer.echo(f"\nsignature: {signature}" if style == "table" else f"\nSignature: `{signature}`")
    if signatures:
        for row in rows:
            for metric, heading in HEADINGS.items():
                for one in (row[metric], *row[metric]["against"]):
                    typer.echo(f"{row['model']} {heading}: {one['signature']}")


def print_cells(cells: Sequence[Sequence[str]], style: str) -> None:
    """Print a table whose first row is its head, aligned or as Markdown."""
    if style == "markdown":
        lines = ["| " + " | ".join(row) + " |" for row in cells]
        lines.insert(1, "|" + "---|" * len(cells[0]))
        typer.echo("\n".join(lines))
        return
    widths = [max(len(row[column]) for row in cells) for column in range(len(cells[0]))]
    for row in cells:
        padded = [
            cell.ljust(width) if column == 0 else cell.rjust(width)
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        typer.echo("  ".join(padded).rstrip())


def probability(value: float) -> str:
    """Return a p-value as text."""
    return "p<.001" if value < 0.001 else f"p={value:.3f}".replace("0.", ".")
