"""Read texts with reference summaries from tables: JSON lines (also gzipped), CSV, Parquet."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

from discsum.data.inputs import PARSED, TEXT_COLUMNS
from discsum.data.pairs import Pair
from discsum.data.tables import Failure, read_rows
from discsum.document import Document
from discsum.errors import InputError

SUMMARY_COLUMNS = ("references", "highlights", "summary")
OPTIONS = ("--text-column", "--summary-column")


def read_pairs(
    path: Path,
    *,
    text_column: str | None = None,
    summary_column: str | None = None,
    first: int = 0,
    last: int | None = None,
    options: Sequence[str] | None = None,
) -> Iterator[Pair | Failure]:
    """Yield the pairs of rows `first` to `last` (exclusive) of a table; an unusable row becomes a `Failure`.

    Args:
        path: A `.jsonl`, `.jsonl.gz`, `.csv` or `.parquet` file.
        text_column: Column of the text; by default `article` or `text`.
        summary_column: Column of the reference, or of a list of them; by default `references`,
            `highlights` or `summary`.
        first: First row taken, from 0.
        last: Row to stop before.
        options: How errors name the two column options; by default as the command line does.

    Raises:
        InputError: A file that is not a table.
    """
    rows = islice(read_rows(path, "utf-8"), first, last)
    return pairs_of(rows, path.stem, text_column, summary_column, first, options)


def pairs_of(
    rows: Iterable[tuple[str, dict[str, Any] | Failure]],
    name: str,
    text_column: str | None,
    summary_column: str | None,
    first: int = 0,
    options: Sequence[str] | None = None,
) -> Iterator[Pair | Failure]:
    """Yield the pair of each row; an unusable row becomes a `Failure`.

    Pairs without an `id` are named `name` with the number of the row, the first being `first` + 1. Other arguments as
    in `read_pairs`.

    Raises:
        InputError: A first row without the columns; the message lists those it has.
    """
    for_text, for_summary = options or OPTIONS
    texts = (text_column,) if text_column else TEXT_COLUMNS
    summaries = (summary_column,) if summary_column else SUMMARY_COLUMNS
    for number, (source, row) in enumerate(rows, start=first + 1):
        if isinstance(row, Failure):
            yield row
            continue
        try:
            text, references = _value(row, texts, for_text), _value(row, summaries, for_summary)
            id = str(row["id"]) if row.get("id") not in (None, "") else f"{name}-{number}"
            # Rows of `discsum parse --jsonl` that also have summaries keep their trees.
            parsed = text_column is None and row.keys() >= PARSED
            document = Document.from_json(row) if parsed else None
            yield Pair(id, _text(text), _references(references), document)
        except InputError as error:
            if number == first + 1 and not _has_columns(row, texts, summaries):
                # A table without the columns fails once, not row by row.
                raise InputError(f"{source}: {error}") from error
            yield Failure(source, str(error))


def _value(row: dict[str, Any], columns: Sequence[str], option: str) -> Any:
    for column in columns:
        if column in row:
            return row[column]
    raise InputError(f"expected a column {' or '.join(columns)}, got {', '.join(map(str, row))}; use {option}")


def _has_columns(row: dict[str, Any], *choices: Sequence[str]) -> bool:
    return all(any(column in row for column in columns) for columns in choices)


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
