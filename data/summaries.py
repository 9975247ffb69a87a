"""Tables of texts with reference summaries: JSONL (also gzipped), CSV, Parquet."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from discsum.data.inputs import TEXT_COLUMNS
from discsum.data.tables import Failure, read_rows
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
) -> Iterator[Pair | Failure]:
    """Yield the pairs of a table, from row `first` to before row `last`; a row that is none becomes a `Failure`.

    Args:
        path: A `.jsonl`, `.jsonl.gz`, `.csv` or `.parquet` file.
        text_column: Column of the text; by default `article` or `text`.
        summary_column: Column of the reference, or of a list of them; by default `references`,
            `highlights` or `summary`.
        first: First row taken, from 0.
        last: First row not taken any more.

    Raises:
        InputError: A file that is no table.
    """
    for number, (source, row) in enumerate(read_rows(path, "utf-8")):
        if number < first or (last is not None and number >= last):
            continue
        if isinstance(row, Failure):
            yield row
            continue
        try:
            text = _value(row, (text_column,) if text_column else TEXT_COLUMNS, "--text-column")
            references = _value(row, (summary_column,) if summary_column else SUMMARY_COLUMNS, "--summary-column")
            yield Pair(_name(row, path, number), _text(text), _references(references))
        except InputError as error:
            yield Failure(source, str(error))


def _value(row: dict[str, Any], columns: Sequence[str], option: str) -> Any:
    for column in columns:
        if column in row:
            return row[column]
    raise InputError(f"expected a column {' or '.join(columns)}, got {', '.join(map(str, row))}; use {option}")


def _text(value: Any) -> str:
    if not isinstance(value, str) or not value.strip():
        raise InputError(f"expected a text, got {_shown(value)}")
    return value


def _references(value: Any) -> tuple[str, ...]:
    references = (value,) if isinstance(value, str) else value
    if not isinstance(references, list | tuple) or not all(isinstance(item, str) for item in references):
        raise InputError(f"expected a reference summary or a list of them, got {_shown(value)}")
    if not any(item.strip() for item in references):
        raise InputError(f"expected a reference summary, got {_shown(value)}")
    return tuple(references)


def _shown(value: Any) -> str:
    return repr(value) if len(repr(value)) <= 40 else f"{repr(value)[:40]}…"


def _name(row: dict[str, Any], path: Path, number: int) -> str:
    return str(row["id"]) if row.get("id") not in (None, "") else f"{path.stem}-{number + 1}"
