"""The rows of tables 2 and 3 of Xiao, Huber and Carenini 2020: one YAML file, a recipe a row."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from typing import Any

import yaml

from discsum.recipes.fields import convert

FOLDER, FILE = "xiao2020", "rows.yaml"
Figures = tuple[int | float, ...]
# What the figures of a row are; those of Lead and Oracle are the first three.
COLUMNS = ("rouge1", "rouge2", "rougeLsum", "attention", "parameters")


@dataclass(frozen=True)
class Group:
    """What the rows of a setting, or of a head, have in common: fields of `synthesizer`, and a head's name in print."""

    synthesizer: dict[str, Any] = field(default_factory=dict)
    label: str = ""


@dataclass(frozen=True)
class UnitTable:
    """The table of a unit.

    Attributes:
        table: Its number in the paper.
        base: The recipe whose fields its rows have.
        lead: ROUGE of Lead in percent.
        oracle: ROUGE of Oracle in percent.
        paper: By setting and head what the paper printed, as in `COLUMNS`.
    """

    table: int
    base: str
    lead: Figures
    oracle: Figures
    paper: dict[str, dict[str, Figures]]


@dataclass(frozen=True)
class RowTable:
    """All rows: a unit, a setting and a head each."""

    settings: dict[str, Group]
    heads: dict[str, Group]
    units: dict[str, UnitTable]

    def __iter__(self) -> Iterator[tuple[str, str, str]]:
        """Yield unit, setting and head of every row, in the paper's order."""
        for unit, table in self.units.items():
            yield from ((unit, setting, head) for setting, heads in table.paper.items() for head in heads)

    def recipes(self) -> dict[str, dict[str, Any]]:
        """Return the rows' recipes by name, each with its `base`."""
        return {
            recipe_name(*row): {
                "base": self.units[row[0]].base,
                "name": "-".join(row),
                "synthesizer": self.heads[row[2]].synthesizer | self.settings[row[1]].synthesizer,
            }
            for row in self
        }


def recipe_name(unit: str, setting: str, head: str) -> str:
    """Return the name of a row's recipe."""
    return f"{FOLDER}/{unit}-{setting}-{head}"


@cache
def row_table() -> RowTable:
    """Return the table that the package has."""
    text = (files("discsum") / "recipes" / FOLDER / FILE).read_text(encoding="utf-8")
    return convert(RowTable, yaml.safe_load(text), f"{FOLDER}/{FILE}")
