"""A table of Xiao, Huber and Carenini 2020 as text: our figures and those of the paper."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from discsum.experiments.report import HEADINGS, aligned
from discsum.experiments.rows import UNIT_OF, table_rows
from discsum.experiments.tables import RowResult

MILLION = 1e6
DAGGERS = (
    "† not significantly worse than the setting's best model with one head, ‡ than the one with eight heads "
    "(paired bootstrap, p < 0.01)"
)


def parameter_report(models: Sequence[tuple[str, int, int]], style: str) -> str:
    """Return the parameters of models, or of every row of both tables with the published numbers.

    Args:
        models: Names with the parameters of the attention and of the whole model; empty for the tables.
        style: `table`, `markdown` or `json`.
    """
    entries: list[dict[str, Any]] = [
        {"model": name, "attention": attention, "whole": whole} for name, attention, whole in models
    ]
    rows = [] if models else [(table, row) for table in UNIT_OF for row in table_rows(table)]
    for table, row in rows:
        count = row.parameters()
        paper = {name: row.paper[name] for name in ("attention", "parameters")}
        label = f"table {table}, {row.setting}, {row.label}"
        entries.append({"model": label, "attention": count.attention, "whole": count.whole, "paper": paper})
    if style == "json":
        return json.dumps(entries, indent=1)
    cells = [["", "attention", "whole model", "paper, millions"]]
    for entry in entries:
        printed = "{attention} / {parameters}".format(**entry["paper"]) if "paper" in entry else ""
        cells.append([entry["model"], f"{entry['attention']:,}", f"{entry['whole']:,}", printed])
    return aligned(cells, style)


def table_report(
    results: Sequence[RowResult], table: int, data: Path, settings: Sequence[str], draws: int, style: str
) -> str:
    """Return the rows of a table, Lead and Oracle first.

    Args:
        results: Result of `run_table`.
        table: 2 or 3.
        data: Folder of the dataset folders.
        settings: `key=value` changes of all recipes.
        draws: Number of random training sets of each row.
        style: `table`, `markdown` or `json`.
    """
    first = results[0].draws[0]
    documents, signature = len(first.selections), first.rouge.signature
    if style == "json":
        rows = [result.to_dict() for result in results]
        head = {"table": table, "data": str(data), "documents": documents, "settings": list(settings), "draws": draws}
        return json.dumps({**head, "signature": str(signature), "rows": rows}, indent=1, ensure_ascii=False)
    spread = f"; mean and standard deviation over {draws} training sets" if draws > 1 else ""
    return "\n".join(
        [
            f"table {table} on {data / 'test'}: {documents} documents; {' '.join(settings)}",
            aligned(_cells(results), style),
            f"{DAGGERS}{spread}",
            f"signature: {signature}",
        ]
    )


def _cells(results: Sequence[RowResult]) -> list[list[str]]:
    ours = [f"{heading} ours" for heading in HEADINGS.values()]
    paper = [f"{heading} paper" for heading in ("R-1", "R-2", "R-L")]
    cells = [["", *ours, *paper, "parameters", "of them attention"]]
    setting = ""
    for result in results:
        row = result.to_dict()
        if result.setting != setting:
            setting = result.setting
            cells.append([f"{setting} setting", *[""] * 8])
        figures = []
        for metric in HEADINGS:
            spread = "" if row[metric]["spread"] is None else f" ± {row[metric]['spread']:.2f}"
            figures.append(f"{row[metric]['mean']:.2f}{spread}{row[metric]['daggers']}")
        printed = ["" if row[metric]["paper"] is None else f"{row[metric]['paper']:.2f}" for metric in HEADINGS]
        count = result.parameters
        sizes = ["", ""] if count is None else [f"{count.whole / MILLION:.1f}M", f"{count.attention / MILLION:.1f}M"]
        cells.append([result.label, *figures, *printed, *sizes])
    return cells
