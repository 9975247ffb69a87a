"""The paper's two daggers."""

import numpy as np
import pytest

from discsum.experiments.comparison import ModelScores
from discsum.experiments.rows import table_rows
from discsum.experiments.tables import RowResult, _with_daggers
from discsum.metrics.rouge import METRICS, RougeScores
from discsum.recipes.rows import row_table

ROWS = {name: head.label for name, head in row_table().heads.items()}


def row(label, setting, values):
    scores = RougeScores(np.repeat(np.asarray(values)[:, None], len(METRICS), axis=1), "signature")
    return RowResult(label, setting, [ModelScores(label, scores, [], 1.0)], {}, None, {})


def test_daggers_are_for_those_that_are_not_significantly_worse():
    random = np.random.default_rng(1)
    base = random.random(400)
    noise = {name: 0.02 * random.standard_normal(400) for name in ROWS}
    # `c_tree_nuc` is the best single head, `c_tree` a little and `dense` far below it; eight heads are the best of all.
    shift = {"dense": -0.1, "c_tree": -0.0001, "c_tree_nuc": 0.05, "dot_product-8": 0.2}
    results = [row("Lead3", "", base), row("Oracle", "", base)]
    for setting in ("default", "balanced"):
        for name, label in ROWS.items():
            values = base + noise[name] + shift.get(name, -0.05)
            if setting == "balanced" and name == "dot_product-8":
                values = base - 0.2
            results.append(row(label, setting, values))
    marked = _with_daggers(results, table_rows(3))
    found = {(result.setting, result.label): result.daggers.get("rouge1", "") for result in marked}
    assert found["", "Lead3"] == found["", "Oracle"] == ""
    assert found["default", "C-Tree w/Nuc"] == "†"
    assert found["default", "Dense"] == found["default", "C-Tree"] == ""
    assert found["default", "Dot Product (8)"] == ""
    # The model with eight heads is the worst here, so no other one is worse.
    assert found["balanced", "C-Tree w/Nuc"] == "†‡"
    assert found["balanced", "Dense"] == "‡"


def test_a_row_that_differs_by_chance_has_its_dagger():
    random = np.random.default_rng(2)
    base = random.random(200)
    results = [row("Lead3", "", base), row("Oracle", "", base)]
    results += [
        row(label, setting, base + 0.05 * random.standard_normal(200))
        for setting in ("default", "balanced")
        for label in ROWS.values()
    ]
    marked = _with_daggers(results, table_rows(3))
    share = np.mean(["†" in result.daggers["rouge2"] for result in marked[2:] if result.daggers])
    assert share > 0.8


def test_draws_are_averaged():
    first, second = ModelScores("a", RougeScores(np.full((3, 3), 0.2), ""), [], 1.0), None
    second = ModelScores("b", RougeScores(np.full((3, 3), 0.4), ""), [], 1.0)
    result = RowResult("x", "default", [first, second], {}, None, {})
    assert result.documents("rouge1").tolist() == pytest.approx([0.3] * 3)
    assert result.spread("rouge1") == pytest.approx(100 * np.std([0.2, 0.4], ddof=1))
