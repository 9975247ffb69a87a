"""Input files of a recipe."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

from msgspec import Meta

from discsum.recipes.fields import Checked, Count, FilePath, Natural, Positive, about


@dataclass(frozen=True)
class Rows(Checked):
    """A range of rows of a table of texts."""

    path: Annotated[FilePath, about("The file, relative to the recipe's data folder; or a URL.")]
    first: Annotated[Natural, about("First row, from 0.")] = 0
    last: Annotated[Count | None, about("End of the rows (exclusive).")] = None

    def problems(self) -> list[str]:
        """Return a problem if the range is empty."""
        if self.last is None or self.last > self.first:
            return []
        return [f"last: expected a row above first {self.first}, got {self.last}"]

    def __str__(self) -> str:
        """Return the path and the range of rows, with an exclusive end."""
        if self.first == 0 and self.last is None:
            return self.path
        return f"{self.path} rows {self.first}-{'end' if self.last is None else self.last}"


@dataclass(frozen=True)
class Source(Rows):
    """Rows with summaries, for training or validation."""

    weight: Annotated[Positive, about("Sampling weight of its documents, relative to other sources.")] = 1.0
    text_column: Annotated[str | None, about("Column with a table's texts; by default `article` or `text`.")] = None
    summary_column: Annotated[
        str | None, about("Column with its references; by default `references`, `highlights` or `summary`.")
    ] = None

    @property
    def columns(self) -> dict[str, str]:
        """The columns that are set."""
        named = {"text_column": self.text_column, "summary_column": self.summary_column}
        return {name: value for name, value in named.items() if value is not None}

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as a dictionary; columns only if set."""
        return {"path": self.path, "first": self.first, "last": self.last, "weight": self.weight} | self.columns


# At least one source.
Sources = Annotated[tuple[Source, ...], Meta(min_length=1)]
