"""Reports as text, Markdown or JSON: scores of summarizers, parameters, and tables of Xiao, Huber and Carenini 2020."""

from __future__ import annotations

import gzip
import json
import shutil
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from discsum.errors import number_of
from discsum.files import is_device, replacing, to_line
from discsum.metrics.rouge import METRICS
from discsum.metrics.significance import too_few
from discsum.signature import Signature

if TYPE_CHECKING:
    from discsum.experiments.tables import RowResult

HEADINGS = {"rouge1": "R-1", "rouge2": "R-2", "rougeLsum": "R-Lsum"}
MILLION = 1e6
DAGGERS = (
    "models with one head: † not significantly worse than the setting's best of them, ‡ than the one with eight heads "
    "(paired bootstrap, p < 0.01)"
)


def write_entries(path: Path, entries: Iterable[dict[str, Any]]) -> None:
    """Write JSON objects, one per line, to a file or a device; gzipped if the name ends in `.gz`."""
    content = "".join(map(to_line, entries)).encode()
    if path.suffix.lower() == ".gz":
        # No time stamp, so that equal scores give equal bytes.
        content = gzip.compress(content, mtime=0)
    if is_device(path):
        # A device or a pipe cannot be replaced by renaming.
        path.write_bytes(content)
        return
    with replacing(path) as partial:
        partial.write_bytes(content)


def comparison_report(
    data: str,
    documents: int,
    rows: Sequence[dict[str, Any]],
    settings: Sequence[Signature],
    style: str,
    signatures: bool,
) -> str:
    """Return the figures of several models on the same documents as `table`, `markdown` or `json`.

    `rows` has the `ModelScores.row` of each model and `settings` its signature. Signatures are printed as in
    `signature_lines`; with `signatures`, the signature of each single figure follows.
    """
    if style == "json":
        head = {"data": data, "documents": documents, "signature": str(settings[0])}
        head["warnings"] = few_documents(documents)
        entries = [{**row, "signature": str(own)} for row, own in zip(rows, settings, strict=True)]
        return json.dumps({**head, "models": entries}, indent=1)
    lines = [f"{data}: {number_of(documents, 'document')}", aligned(_figures(rows), style)]
    paired = [
        (f"{row['model']} minus {others[0]['model']}", [(one["difference"], one["p"]) for one in others])
        for row in rows
        for others in zip(*(row[metric]["against"] for metric in HEADINGS), strict=True)
    ]
    if paired:
        lines += ["", paired_table(paired, style)]
    lines += spaced(few_documents(documents))
    lines += ["", *signature_lines([(row["model"], own) for row, own in zip(rows, settings, strict=True)], style)]
    if signatures:
        lines += [
            f"{row['model']} {heading}: {one['signature']}"
            if style == "table"
            else f"- {row['model']} {heading}: `{one['signature']}`"
            for row in rows
            for metric, heading in HEADINGS.items()
            for one in (row[metric], *row[metric]["against"])
        ]
    return "\n".join(lines)


def signature_lines(named: Sequence[tuple[str, Signature]], style: str) -> list[str]:
    """Return a line for each distinct signature; it names the models that have it unless all have the same."""
    owners: dict[str, list[str]] = {}
    for name, own in named:
        owners.setdefault(str(own), []).append(name)
    lines = []
    for printed, models in owners.items():
        of = f" of {', '.join(dict.fromkeys(models))}" if len(owners) > 1 else ""
        lines.append(f"signature{of}: {printed}" if style == "table" else f"Signature{of}: `{printed}`")
    return lines


def few_documents(documents: int) -> list[str]:
    """Return the warning of `too_few`, if there is one."""
    return [doubt] if (doubt := too_few(documents)) else []


def spaced(lines: Sequence[str]) -> list[str]:
    """Return lines after an empty one; nothing if there are none."""
    return ["", *lines] if lines else []


def _figures(rows: Sequence[dict[str, Any]]) -> list[list[str]]:
    cells = [["model", *HEADINGS.values(), "words", "place", "in oracle", "parameters", "docs/s"]]
    for row in rows:
        figures = [
            f"{row[metric]['mean']:.2f} [{row[metric]['low']:.2f}, {row[metric]['high']:.2f}]" for metric in HEADINGS
        ]
        forms = {"words": ".1f", "place": ".2f", "overlap": ".2f", "parameters": ",", "documents_a_second": ".0f"}
        others = [_number(row[name], form) for name, form in forms.items()]
        cells.append([row["model"], *figures, *others])
    return cells


def _number(value: float | None, form: str = ".2f") -> str:
    return "" if value is None else format(value, form)


def parameter_report(models: Sequence[tuple[str, int, int]], style: str) -> str:
    """Return the parameters of models as `table`, `markdown` or `json`.

    `models` has the name of each model with the parameters of its attention and of the whole model. If it is empty, the
    report has every row of both tables with the published numbers.
    """
    # Imported late because the module reads the table of all rows.
    from discsum.experiments.rows import UNIT_OF, table_rows

    entries: list[dict[str, Any]] = [
        {"model": name, "attention": attention, "whole": whole} for name, attention, whole in models
    ]
    for table in [] if models else UNIT_OF:
        for row in table_rows(table):
            paper = {name: row.paper[name] for name in ("attention", "parameters")}
            entry = {"model": f"table {table}, {row.setting}, {row.label}", **asdict(row.parameters())}
            entries.append({**entry, "paper": paper})
    if style == "json":
        return json.dumps({"models": entries}, indent=1)
    cells = [["", "attention", "whole model", "paper, millions"]]
    for entry in entries:
        printed = "{attention} / {parameters}".format(**entry["paper"]) if "paper" in entry else ""
        cells.append([entry["model"], f"{entry['attention']:,}", f"{entry['whole']:,}", printed])
    return aligned(cells, style)


def table_report(
    results: Sequence[RowResult],
    table: int,
    data: Path,
    settings: Sequence[str],
    draws: int,
    style: str,
    seeds: int | None = None,
) -> str:
    """Return the rows of a table as `table`, `markdown` or `json`.

    Takes the results of `run_table`, the number of the table, the output style, and the arguments of `run_table`.
    """
    first = results[0].draws[0]
    documents = len(first.selections)
    if style == "json":
        rows = [result.to_dict() for result in results]
        head = {"table": table, "data": str(data), "documents": documents, "settings": list(settings)}
        head |= {"draws": draws, "seeds": seeds, "warnings": few_documents(documents)}
        return json.dumps({**head, "rows": rows}, indent=1, ensure_ascii=False)
    count, what = (draws, "training sets") if seeds is None else (seeds, "seeds")
    spread = f"; mean and standard deviation over {count} {what}" if count > 1 else ""
    return "\n".join(
        [
            f"table {table} on {data / 'test'}: {number_of(documents, 'document')}; {' '.join(settings)}",
            aligned(_table_cells(results), style),
            "",
            f"{DAGGERS}{spread}",
            *spaced(few_documents(documents)),
            "",
            *signature_lines([(one.name, draw.rouge.signature) for one in results for draw in one.draws], style),
        ]
    )


def _table_cells(results: Sequence[RowResult]) -> list[list[str]]:
    ours = [f"{heading} ours" for heading in HEADINGS.values()]
    paper = [f"{heading} paper" for heading in ("R-1", "R-2", "R-L")]
    cells = [["", *ours, *paper, "parameters", "in attention"]]
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
        printed = [_number(row[metric]["paper"]) for metric in HEADINGS]
        count = result.parameters
        sizes = ["", ""] if count is None else [f"{count.whole / MILLION:.1f}M", f"{count.attention / MILLION:.1f}M"]
        cells.append([result.label, *figures, *printed, *sizes])
    return cells


def aligned(cells: Sequence[Sequence[str]], style: str) -> str:
    """Return a table with aligned columns or in Markdown; the first row of `cells` is the header.

    A table that is wider than the terminal is divided by columns into several, each with the first column.
    """
    if style == "markdown":
        lines = ["| " + " | ".join(row) + " |" for row in cells]
        lines.insert(1, "|" + "---|" * len(cells[0]))
        return "\n".join(lines)
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    room = shutil.get_terminal_size().columns if sys.stdout.isatty() else sum(widths) + 2 * len(widths)
    parts, used = [[0]], widths[0]
    for column, width in enumerate(widths[1:], 1):
        if len(parts[-1]) > 1 and used + 2 + width > room:
            parts.append([0])
            used = widths[0]
        parts[-1].append(column)
        used += 2 + width
    lines = []
    for first, *others in parts:
        for row in cells:
            figures = (row[column].rjust(widths[column]) for column in others)
            lines.append("  ".join([row[first].ljust(widths[first]), *figures]).rstrip())
        lines.append("")
    return "\n".join(lines[:-1])


def paired_table(
    rows: Sequence[tuple[str, Sequence[tuple[float, float] | None]]],
    style: str,
    names: Sequence[str] = METRICS,
    digits: Mapping[str, int] | None = None,
) -> str:
    """Return a table of differences: for each pair of systems, the difference and p-value of every figure of both.

    `names` are the figures, and `digits` has the number of decimal places by figure, by default two.
    """
    cells = []
    for pair, figures in rows:
        shown = zip(figures, ((digits or {}).get(name, 2) for name in names), strict=True)
        cells.append([pair, *("" if one is None else f"{one[0]:+.{count}f} {p_value(one[1])}" for one, count in shown)])
    return aligned([["paired bootstrap", *(HEADINGS.get(name, name) for name in names)], *cells], style)


def p_value(value: float) -> str:
    """Return a p-value in the format of the tables."""
    return "p<.001" if value < 0.001 else f"p={value:.3f}".replace("0.", ".")
