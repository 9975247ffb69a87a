"""Rows of tables that a recipe names."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeVar

from discsum.recipes.fields import mistaken


@dataclass(frozen=True)
class Rows:
    """Some rows of a table of texts.

    Attributes:
        path: The file, relative to the recipe's data folder.
        first: First row taken, from 0.
        last: First row not taken any more.
    """

    path: str
    first: int = 0
    last: int | None = None

    def __str__(self) -> str:
        """Return the path and the rows, the last one not included."""
        if self.first == 0 and self.last is None:
            return self.path
        return f"{self.path} rows {self.first}-{'end' if self.last is None else self.last}"


@dataclass(frozen=True)
class Source(Rows):
    """Rows with summaries, to learn from.

    Attributes:
        weight: How often its documents are drawn, relative to others.
        text_column: Column of a table's texts; by default `article` or `text`.
        summary_column: Column of its references; by default `references`, `highlights` or `summary`.
    """

    weight: float = 1.0
    text_column: str | None = None
    summary_column: str | None = None

    @property
    def columns(self) -> dict[str, str]:
        """The columns that it names."""
        named = {"text_column": self.text_column, "summary_column": self.summary_column}
        return {name: value for name, value in named.items() if value is not None}

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as a dictionary; columns only where it names them, as runs knew none at first."""
        return {"path": self.path, "first": self.first, "last": self.last, "weight": self.weight} | self.columns


Kind = TypeVar("Kind", bound=Rows)


def sources(name: str, entries: Any, kind: type[Kind]) -> tuple[tuple[Kind, ...], list[str]]:
    """Return the sources of a recipe's field `name`, each of `kind`, and what is wrong with them."""
    if not isinstance(entries, list | tuple) or not all(
        isinstance(entry, dict) and "path" in entry for entry in entries
    ):
        return (), [f"{name}: expected a list of sources, each with a path, got {entries!r}"]
    problems = [
        problem for place, entry in enumerate(entries) for problem in mistaken(kind, entry, f"{name}[{place}].")
    ]
    if problems:
        return (), problems
    found = tuple(kind(**entry) for entry in entries)
    problems = [
        f"{name}[{place}]: expected first from 0 and last above it, got {source}"
        for place, source in enumerate(found)
        if source.first < 0 or (source.last is not None and source.last <= source.first)
    ]
    problems += [
        f"{name}[{place}].weight: expected a number above 0, got {source.weight}"
        for place, source in enumerate(found)
        if isinstance(source, Source) and not source.weight > 0
    ]
    return found, problems
