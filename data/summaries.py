"""Tables of texts with reference summaries: JSONL (also gzipped), CSV, Parquet."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from discsum.data.inputs import TEXT_COLUMNS, Failure, read_rows
from discsum.errors import InputError
from discsum.training.pairs import Pair

SUMMARY_COLUMNS = ("references", "highlights", "summary")


def read_pairs(
    path: Path,
    *,
    text_column: str | None = None,
    summary_column: str | None = None,
    first: int = 0,
    last: int | None = None,
) -> list[Pair]:
    """Return the pairs of a table, from row `first` to before row `last`.

    Args:
        path: A `.jsonl`, `.jsonl.gz`, `.csv` or `.parquet` file.
        text_column: Column of the text; by default `article` or `text`.
        summary_column: Column of the reference, or of a list of them; by default `references`,
            `highlights` or `summary`.
        first: First row taken, from 0.
        last: First row not taken any more.

    Raises:
        InputError: A row that is no pair; the message names the line, and the columns there are.
    """
    pairs = []
    for number, (source, row) in enumerate(read_rows(path, "utf-8")):
        if isinstance(row, Failure):
            raise InputError(str(row))
        if number < first or (last is not None and number >= last):
            continue
        text = _value(row, (text_column,) if text_column else TEXT_COLUMNS, source, "--text-column")
        columns = (summary_column,) if summary_column else SUMMARY_COLUMNS
        references = _value(row, columns, source, "--summary-column")
        if isinstance(references, str):
            references = [references]
        if not isinstance(text, str) or not all(isinstance(reference, str) for reference in references):
            raise InputError(f"{source}: expected texts, got {type(text).__name__} and {type(references).__name__}")
        name = row.get("id")
        pairs.append(Pair(str(name) if name else f"{path.stem}-{number + 1}", text, tuple(references)))
    return pairs


def _value(row: dict[str, Any], columns: Sequence[str], source: str, option: str) -> Any:
    for column in columns:
        if row.get(column):
            return row[column]
    raise InputError(f"{source}: expected a column {' or '.join(columns)}, got {', '.join(row)}; use {option}")
