"""The rows of tables 2 and 3 of Xiao, Huber and Carenini 2020, with their recipes and published figures."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from discsum.encoder.synthesizer import Synthesizer
from discsum.errors import InputError
from discsum.metrics.rouge import METRICS
from discsum.recipes import common_fields, read_recipe
from discsum.recipes.rows import COLUMNS, recipe_name, row_table
from discsum.scoring import ParameterCount
from discsum.summarizer.training.recipe import SummarizerRecipe

_TABLE = row_table()
UNIT_OF = {its.table: unit for unit, its in _TABLE.units.items()}
SETTINGS = tuple(_TABLE.settings)
# Published ROUGE of Lead and Oracle by unit, on the whole test set of CNN/DailyMail.
LEAD_FIGURES = {unit: dict(zip(METRICS, its.lead, strict=True)) for unit, its in _TABLE.units.items()}
ORACLE_FIGURES = {unit: dict(zip(METRICS, its.oracle, strict=True)) for unit, its in _TABLE.units.items()}
# Fields that each row sets itself, so the low-resource recipes do not change them.
OWN = ("name", "synthesizer.head")


@dataclass(frozen=True)
class TableRow:
    """One row.

    Attributes:
        recipe: The recipe's name.
        unit: `sentence` or `edu`.
        setting: `default` or `balanced`.
        label: The row's name in the paper.
        paper: Published figures: `rouge1`, `rouge2`, `rougeLsum` in percent on the whole test set of
            CNN/DailyMail; `attention` and `parameters` in millions.
    """

    recipe: str
    unit: str
    setting: str
    label: str
    paper: dict[str, float]

    def parameters(self) -> ParameterCount:
        """Return the parameter counts of the row's model with unit vectors of size 768, as in the paper."""
        content: dict[str, Any] = read_recipe(self.recipe)
        common_fields(content)
        network = SummarizerRecipe.from_dict(content).synthesizer
        return Synthesizer(replace(network, width=768)).parameter_count()


def table_rows(table: int, settings: Sequence[str] = SETTINGS) -> list[TableRow]:
    """Return the rows of table 2 (EDUs) or 3 (sentences) in the given settings, in the paper's order.

    Raises:
        InputError: An unknown table or setting.
    """
    unknown = [setting for setting in settings if setting not in SETTINGS]
    if unknown:
        raise InputError(f"--setting: expected {' or '.join(SETTINGS)}, got {', '.join(unknown)}")
    unit = _unit_of(table)
    paper = _TABLE.units[unit].paper
    return [
        TableRow(
            recipe_name(unit, setting, head),
            unit,
            setting,
            _TABLE.heads[head].label,
            dict(zip(COLUMNS, figures, strict=True)),
        )
        for setting in settings
        for head, figures in paper[setting].items()
    ]


def low_resource_fields(table: int) -> list[str]:
    """Return what the low-resource recipe of a table's unit changes, as `key=value` settings.

    Raises:
        InputError: A table other than 2 and 3.
    """
    unit = _unit_of(table)
    usual, scarce = (_flat(read_recipe(f"xiao2020/{name}")) for name in (unit, f"{unit}-low-resource"))
    changed = {key: value for key, value in scarce.items() if key not in OWN and usual.get(key) != value}
    return [f"{key}={value if isinstance(value, str) else json.dumps(value)}" for key, value in changed.items()]


def _flat(recipe: dict[str, Any]) -> dict[str, Any]:
    """Return a recipe with the fields of the network as `synthesizer.NAME`."""
    network = recipe.pop("synthesizer", {})
    return recipe | {f"synthesizer.{key}": value for key, value in network.items()}


def _unit_of(table: int) -> str:
    if table not in UNIT_OF:
        raise InputError(f"--table: expected {' or '.join(map(str, UNIT_OF))}, got {table}")
    return UNIT_OF[table]
