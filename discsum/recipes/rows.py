"""The rows of tables 2 and 3 of Xiao, Huber and Carenini 2020: one YAML file, one recipe per row."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from discsum.recipes.fields import convert

FOLDER, FILE = "xiao2020", "rows.yaml"
RowFigures = tuple[int | float, ...]
# Columns of a row's figures; Lead and Oracle only have the first three.
COLUMNS = ("rouge1", "rouge2", "rougeLsum", "attention", "parameters")


@dataclass(frozen=True)
class Group:
    """The `synthesizer` fields that all rows of a setting or head share, and the printed name of a head."""

    synthesizer: dict[str, Any] = field(default_factory=dict)
    label: str = ""


@dataclass(frozen=True)
class UnitTable:
    """The table of a unit: its number in the paper, the base recipe, ROUGE in percent, `paper[setting][head]`."""

    table: int
    base: str
    lead: RowFigures
    oracle: RowFigures
    paper: dict[str, dict[str, RowFigures]]


@dataclass(frozen=True)
class RowTable:
    """All rows: one per unit, setting and head."""

    settings: dict[str, Group]
    heads: dict[str, Group]
    units: dict[str, UnitTable]

    def __iter__(self) -> Iterator[tuple[str, str, str]]:
        """Yield unit, setting and head of every row, in the paper's order."""
        for unit, table in self.units.items():
            yield from ((unit, setting, head) for setting, heads in table.paper.items() for head in heads)

    def recipes(self) -> dict[str, dict[str, Any]]:
        """Return the recipes of the rows by name, each with its `base`."""
        return {
            recipe_name(*row): {
                "base": self.units[row[0]].base,
                "name": "-".join(row),
                "synthesizer": self.heads[row[2]].synthesizer | self.settings[row[1]].synthesizer,
            }
            for row in self
        }


def recipe_name(unit: str, setting: str, head: str) -> str:
    """Return the name of the recipe of a row."""
    return f"{FOLDER}/{unit}-{setting}-{head}"


@cache
def row_table() -> RowTable:
    """Return the shipped table."""
    from discsum.recipes.yaml_values import read_yaml

    return convert(RowTable, read_yaml(Path(str(files("discsum") / "recipes" / FOLDER / FILE))), f"{FOLDER}/{FILE}")
