"""The rows of tables 2 and 3 of Xiao, Huber and Carenini 2020, each with its recipe and what the paper printed."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from discsum.encoder.synthesizer import ParameterCount, Synthesizer
from discsum.errors import InputError
from discsum.recipes import common_fields, read_recipe
from discsum.summarizer.training.recipe import SummarizerRecipe

UNIT_OF = {2: "edu", 3: "sentence"}
SETTINGS = ("default", "balanced")
ROWS = {
    "dot_product-8": "Dot Product (8)",
    "dot_product": "Dot Product (1)",
    "dense": "Dense",
    "learned_random": "Learned Random",
    "fixed_random": "Fixed Random",
    "none": "No attention",
    "d_tree": "D-Tree",
    "c_tree": "C-Tree",
    "c_tree_nuc": "C-Tree w/Nuc",
}
# What the paper printed of Lead and Oracle, on the whole test set of CNN/DailyMail.
LEAD = {
    2: {"rouge1": 37.99, "rouge2": 15.56, "rougeLsum": 34.08},
    3: {"rouge1": 40.30, "rouge2": 17.52, "rougeLsum": 36.54},
}
ORACLE = {
    2: {"rouge1": 62.08, "rouge2": 38.20, "rougeLsum": 58.86},
    3: {"rouge1": 56.04, "rouge2": 33.10, "rougeLsum": 52.29},
}
# Fields of the low-resource recipes that the rows have themselves.
OWN = ("name", "synthesizer")


@dataclass(frozen=True)
class TableRow:
    """One row.

    Attributes:
        recipe: The recipe's name.
        unit: `sentence` or `edu`.
        setting: `default` or `balanced`.
        label: The row's name in the paper.
        paper: What the paper printed: `rouge1`, `rouge2`, `rougeLsum` in percent on the whole test set of
            CNN/DailyMail; `attention` and `parameters` in millions.
    """

    recipe: str
    unit: str
    setting: str
    label: str
    paper: dict[str, float]

    def parameters(self) -> ParameterCount:
        """Return how many parameters the row's model has, for unit vectors of size 768 as in the paper."""
        content: dict[str, Any] = read_recipe(self.recipe)
        common_fields(content)
        network = SummarizerRecipe.from_dict(content).synthesizer
        return Synthesizer(type(network)(**network.to_dict() | {"width": 768})).parameter_count()


def table_rows(table: int, settings: Sequence[str] = SETTINGS) -> list[TableRow]:
    """Return the rows of table 2 (EDUs) or 3 (sentences) in some settings, in the paper's order.

    Raises:
        InputError: Another table or setting.
    """
    unknown = [setting for setting in settings if setting not in SETTINGS]
    if unknown:
        raise InputError(f"--setting: expected {' or '.join(SETTINGS)}, got {', '.join(unknown)}")
    _check_table(table)
    rows = []
    for setting in settings:
        for name, label in ROWS.items():
            recipe = f"xiao2020/{UNIT_OF[table]}-{setting}-{name}"
            rows.append(TableRow(recipe, UNIT_OF[table], setting, label, read_recipe(recipe)["paper"]))
    return rows


def low_resource(table: int) -> list[str]:
    """Return what the low-resource recipe of a table's unit changes in the rows, as `key=value` settings.

    Raises:
        InputError: Another table than 2 or 3.
    """
    _check_table(table)
    unit = UNIT_OF[table]
    usual, scarce = read_recipe(f"xiao2020/{unit}"), read_recipe(f"xiao2020/{unit}-low-resource")
    changed = {key: value for key, value in scarce.items() if key not in OWN and usual.get(key) != value}
    return [f"{key}={value if isinstance(value, str) else json.dumps(value)}" for key, value in changed.items()]


def _check_table(table: int) -> None:
    if table not in UNIT_OF:
        raise InputError(f"--table: expected {' or '.join(map(str, UNIT_OF))}, got {table}")
