"""What `discsum evaluate --table` and `--parameters` print."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from discsum.cli.models import load_scorer
from discsum.cli.progress import quiet
from discsum.errors import InputError
from discsum.experiments.report import HEADINGS, print_cells, write_documents
from discsum.experiments.rows import SETTINGS, UNIT_OF, low_resource, table_rows

if TYPE_CHECKING:
    from discsum.experiments.tables import RowResult

MILLION = 1e6


def show_parameters(models: Sequence[str], style: str) -> None:
    """Print the parameters of trained models, or of every row of both tables beside the paper's."""
    from discsum.summarizer.extractive import ExtractiveSummarizer

    entries: list[dict[str, Any]] = []
    for name in models:
        scorer = load_scorer(name, None)
        if not isinstance(scorer, ExtractiveSummarizer):
            raise InputError(f"{name}: expected a trained model, got a baseline, which has no parameters")
        count = scorer.network.parameter_count()
        entries.append({"model": name, "attention": count.attention, "whole": count.whole})
    if not models:
        for table in UNIT_OF:
            for row in table_rows(table):
                count = row.parameters()
                paper = {name: row.paper[name] for name in ("attention", "parameters")}
                label = f"table {table}, {row.setting}, {row.label}"
                entries.append({"model": label, "attention": count.attention, "whole": count.whole, "paper": paper})
    if style == "json":
        typer.echo(json.dumps(entries, indent=1))
        return
    cells = [["", "attention", "whole model", "paper, millions"]]
    for entry in entries:
        printed = "{attention} / {parameters}".format(**entry["paper"]) if "paper" in entry else ""
        cells.append([entry["model"], f"{entry['attention']:,}", f"{entry['whole']:,}", printed])
    print_cells(cells, style)


def show_table(
    table: int,
    setting: str | None,
    data: Path,
    runs: Path,
    settings: Sequence[str],
    draws: int,
    output: str | None,
    style: str,
    *,
    scarce: bool,
) -> None:
    """Train what is missing of a table's rows, or of those of one setting, and print ours beside the paper's.

    `scarce` gives the rows the fields of the low-resource recipe; `settings` come after these.
    """
    from discsum.experiments.tables import run_table

    quiet()
    rows = table_rows(table, [setting] if setting else SETTINGS)
    settings = [*(low_resource(table) if scarce else []), *settings]
    results = run_table(rows, data, runs, settings, draws, lambda line: typer.echo(line, err=True))
    _print(results, table, data, settings, draws, style)
    if output is not None:
        write_documents(Path(output), [draw for result in results for draw in result.draws])


def _print(
    results: Sequence[RowResult], table: int, data: Path, settings: Sequence[str], draws: int, style: str
) -> None:
    first = results[0].draws[0]
    documents, signature = len(first.selections), first.rouge.signature
    if style == "json":
        rows = [result.to_dict() for result in results]
        head = {"table": table, "data": str(data), "documents": documents, "settings": list(settings), "draws": draws}
        typer.echo(json.dumps({**head, "signature": signature, "rows": rows}, indent=1, ensure_ascii=False))
        return
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
    typer.echo(f"table {table} on {data / 'test'}: {documents} documents; {' '.join(settings)}")
    print_cells(cells, style)
    typer.echo(
        "† not significantly worse than the setting's best model with one head, ‡ than the one with eight heads "
        "(paired bootstrap, p < 0.01)"
        + (f"; mean and standard deviation over {draws} training sets" if draws > 1 else "")
    )
    typer.echo(f"signature: {signature}")
