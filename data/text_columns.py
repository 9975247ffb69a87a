"""Columns of a table that hold the text of a row, or a parsed document."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from discsum.constants import UNITS

# Columns of a row that holds a parsed document, as `discsum parse --jsonl` writes it.
PARSED = {"text", "sentences", "edus", "nodes"}
TEXT_COLUMNS = ("article", "text")
VECTOR_COLUMNS = {f"{unit}_vectors" for unit in UNITS}


def holds_document(row: Mapping[str, Any], text_column: str | None) -> bool:
    """Return whether a row is read as the document that `discsum parse --jsonl` wrote: unless a column is named."""
    return text_column is None and row.keys() >= PARSED


def text_columns(row: Mapping[str, Any], text_column: str | None) -> Sequence[str]:
    """Return the columns of a row that may hold its text: the named one, a parsed document's, or the usual ones."""
    if text_column is not None:
        return (text_column,)
    return ("text",) if holds_document(row, text_column) else TEXT_COLUMNS


def document_columns(row: Mapping[str, Any], texts: Sequence[str], text_column: str | None) -> list[str]:
    """Return the columns of a table that a document needs: `texts` and `id`, or those of a parsed document.

    The latter are all but the vectors of a dataset folder, by far its largest columns.

    Args:
        row: The names of all columns, with any values.
        texts: Names of the columns that may hold text and summary.
        text_column: The column of the text, if the user named one.
    """
    if holds_document(row, text_column):
        return [name for name in row if name not in VECTOR_COLUMNS]
    return [name for name in row if name in {*texts, "id"}]
