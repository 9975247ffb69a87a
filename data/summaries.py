"""Summaries that any program wrote, from a table with the columns `id` and `summary`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from discsum.data.failures import Failure
from discsum.data.slices import ENCODING
from discsum.data.storage import is_url
from discsum.data.tables import TABLES, find_column, read_rows
from discsum.errors import InputError

COLUMNS = ("id", "summary")


def is_summaries(name: str) -> bool:
    """Return whether a name is that of a table on this machine, such as `mine.jsonl`."""
    return not is_url(name) and name.lower().endswith(TABLES) and Path(name).is_file()


@dataclass(frozen=True)
class WrittenSummary:
    """A summary, and whether its lines are its sentences: it was a list of them, has several lines, or is empty."""

    text: str
    is_split: bool


def read_summaries(path: Path) -> dict[str, WrittenSummary]:
    """Return the summaries of a table by the `id` of their text.

    Raises:
        InputError: A file that is not a table, a row that cannot be read or lacks a column, or an `id` that comes
            twice; the message has file and line.
    """
    found: dict[str, WrittenSummary] = {}
    for source, row in read_rows(path, ENCODING):
        if isinstance(row, Failure):
            raise InputError(f"{row.source}: {row.reason}")
        try:
            name, summary = (row[find_column(row, [column], "rename its column")] for column in COLUMNS)
        except InputError as error:
            raise InputError(f"{source}: {error}") from error
        lines = summary.splitlines() if isinstance(summary, str) else summary
        if not isinstance(lines, list) or not all(isinstance(line, str) for line in lines):
            raise InputError(f"{source}: expected a summary or a list of its sentences, got {summary!r:.40}")
        if str(name) in found:
            raise InputError(f"{source}: expected one summary for each text, got a second one for {name}")
        filled = [" ".join(line.split()) for line in lines if line.strip()]
        found[str(name)] = WrittenSummary("\n".join(filled), isinstance(summary, list) or len(filled) != 1)
    return found
