"""Scores of summarizers as an aligned table, Markdown or JSON."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from discsum.experiments.comparison import ModelScores
from discsum.files import replacing, to_line
from discsum.signature import Signature

HEADINGS = {"rouge1": "R-1", "rouge2": "R-2", "rougeLsum": "R-Lsum"}
STYLES = ("table", "markdown", "json")


def write_documents(path: Path, results: Sequence[ModelScores]) -> None:
    """Write every document's scores, one JSON object a line; gzipped where the name ends in `.gz`."""
    lines = "".join(to_line(entry) for result in results for entry in result.documents()).encode()
    with replacing(path) as partial:
        # Without a time stamp, equal scores give equal bytes.
        partial.write_bytes(gzip.compress(lines, mtime=0) if path.suffix == ".gz" else lines)


def comparison_report(
    data: str, documents: int, rows: Sequence[dict[str, Any]], signature: Signature, style: str, signatures: bool
) -> str:
    """Return the figures of several models on the same documents.

    Args:
        data: Name of the documents.
        documents: Number of documents.
        rows: `ModelScores.row` of each model.
        signature: Signature of all figures.
        style: One of `STYLES`.
        signatures: Whether each figure's own signature follows.
    """
    if style == "json":
        head = {"data": data, "documents": documents, "signature": str(signature)}
        return json.dumps({**head, "models": list(rows)}, indent=1)
    lines = [f"{data}: {documents} documents", aligned(_figures(rows), style)]
    paired = list(_comparisons(rows))
    if paired:
        lines += ["", aligned([["paired bootstrap", *HEADINGS.values()], *paired], style)]
    lines.append(f"\nsignature: {signature}" if style == "table" else f"\nSignature: `{signature}`")
    if signatures:
        lines += [
            f"{row['model']} {heading}: {one['signature']}"
            for row in rows
            for metric, heading in HEADINGS.items()
            for one in (row[metric], *row[metric]["against"])
        ]
    return "\n".join(lines)


def _figures(rows: Sequence[dict[str, Any]]) -> list[list[str]]:
    cells = [["model", *HEADINGS.values(), "words", "place", "in oracle", "parameters", "docs/s"]]
    for row in rows:
        figures = [
            f"{row[metric]['mean']:.2f} [{row[metric]['low']:.2f}, {row[metric]['high']:.2f}]" for metric in HEADINGS
        ]
        parameters = "" if row["parameters"] is None else f"{row['parameters']:,}"
        place = "" if row["place"] is None else f"{row['place']:.2f}"
        overlap = "" if row["overlap"] is None else f"{row['overlap']:.2f}"
        others = [f"{row['words']:.1f}", place, overlap, parameters]
        cells.append([row["model"], *figures, *others, f"{row['documents_a_second']:.0f}"])
    return cells


def _comparisons(rows: Sequence[dict[str, Any]]) -> Iterator[list[str]]:
    """Yield differences and p-values of each pair of models."""
    for row in rows:
        for index, other in enumerate(row["rouge1"]["against"]):
            found = [row[metric]["against"][index] for metric in HEADINGS]
            differences = [f"{one['difference']:+.2f} {p_value(one['p'])}" for one in found]
            yield [f"{row['model']} - {other['model']}", *differences]


def aligned(cells: Sequence[Sequence[str]], style: str) -> str:
    """Return a table, its header in the first row, with aligned columns or in Markdown."""
    if style == "markdown":
        lines = ["| " + " | ".join(row) + " |" for row in cells]
        lines.insert(1, "|" + "---|" * len(cells[0]))
        return "\n".join(lines)
    widths = [max(len(row[column]) for row in cells) for column in range(len(cells[0]))]
    return "\n".join(
        "  ".join(
            cell.ljust(width) if column == 0 else cell.rjust(width)
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in cells
    )


def p_value(value: float) -> str:
    """Return a p-value in the format of the tables."""
    return "p<.001" if value < 0.001 else f"p={value:.3f}".replace("0.", ".")
