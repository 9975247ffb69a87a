"""Train and evaluate every row of tables 2 and 3 of Xiao, Huber and Carenini 2020 on other data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discsum.baselines import baseline
from discsum.data.manifest import Manifest
from discsum.errors import InputError
from discsum.experiments.blocks import DatasetBlocks
from discsum.experiments.comparison import ModelScores, compare_models
from discsum.experiments.rows import LEAD_FIGURES, ORACLE_FIGURES, SETTINGS, TableRow
from discsum.experiments.systems import System, extractive_system, oracle_system
from discsum.experiments.training_runs import train_summarizer
from discsum.metrics.rouge import METRICS
from discsum.metrics.significance import paired_bootstrap
from discsum.recipes import read_recipe
from discsum.recipes.fields import differences
from discsum.scoring import ParameterCount
from discsum.selection import default_policy
from discsum.summarizer.extractive import ExtractiveSummarizer
from discsum.training.task import Report

# Significance level of the paper.
SIGNIFICANCE_LEVEL = 0.01
EIGHT_HEADS = "dot_product-8"
# Fields that the rows or the folders define.
FIXED = ("kind", "data", "train", "validation", "unit", "synthesizer.head", "synthesizer.heads", "synthesizer.mixture")
# Preprocessing options that the three dataset folders of a table must share.
SHARED = ("parser", "oracle", "oracle_units", "encoder", "made_by")


@dataclass(frozen=True)
class RowResult:
    """Scores of one row.

    Attributes:
        label: The row's name in the paper.
        setting: `default` or `balanced`; empty for Lead and Oracle.
        draws: Scores of the row's models, one for each random training set or each seed.
        paper: Published figures, as in `TableRow`; only ROUGE for Lead and Oracle.
        parameters: Parameter counts of the trained models; None for Lead and Oracle.
        daggers: By metric, `†` if the row is not significantly worse than the setting's best model with one head, `‡`
            if it is not significantly worse than the model with eight heads (paired bootstrap over documents, p <
            0.01). So they concern the trained models: other seeds or training sets may differ by as much.
    """

    label: str
    setting: str
    draws: Sequence[ModelScores]
    paper: dict[str, float]
    parameters: ParameterCount | None
    daggers: dict[str, str]

    @property
    def name(self) -> str:
        """The row's label, with its setting if it has one."""
        return f"{self.label} ({self.setting})" if self.setting else self.label

    def documents(self, metric: str) -> NDArray[np.float64]:
        """Return the mean score `(documents,)` of each document over the draws."""
        values: NDArray[np.float64] = np.mean([draw.rouge.metric(metric) for draw in self.draws], axis=0)
        return values

    def spread(self, metric: str) -> float | None:
        """Return the standard deviation of the draws' means, in percent; None for a single draw."""
        means = [100 * draw.rouge.mean[metric] for draw in self.draws]
        return float(np.std(means, ddof=1)) if len(means) > 1 else None

    def to_dict(self) -> dict[str, Any]:
        """Return the row's figures, ROUGE in percent."""
        figures = {
            metric: {
                "mean": float(100 * self.documents(metric).mean()),
                "spread": self.spread(metric),
                "draws": [float(100 * draw.rouge.mean[metric]) for draw in self.draws],
                "daggers": self.daggers.get(metric, ""),
                "paper": self.paper.get(metric),
            }
            for metric in METRICS
        }
        parameters = None if self.parameters is None else asdict(self.parameters)
        # The first draw's signature is enough: draws only differ in training documents or seed.
        signature = str(self.draws[0].rouge.signature)
        named = {"label": self.label, "setting": self.setting, "signature": signature}
        return {**named, **figures, "parameters": parameters}


def run_table(
    rows: Sequence[TableRow],
    data: Path,
    runs: Path,
    settings: Sequence[str],
    draws: int,
    report: Report,
    seeds: int | None = None,
) -> list[RowResult]:
    """Train and evaluate the rows of a table and return their results, with Lead and Oracle first.

    Args:
        rows: All rows of the table, or of one setting.
        data: A folder with the dataset folders `train`, `validation` and `test`.
        runs: Folder of the runs, `ROW/draw-K`, or `ROW/seed-K` with `seeds`; finished runs are not repeated.
        settings: `key=value` changes to all recipes.
        draws: Number of random training sets of each row; more than one needs `sample` in the recipe.
        report: Receives progress lines.
        seeds: Number of runs of each row on the same documents, with seeds 1, 2, ...; None for the recipe's seed.

    Raises:
        InputError: Folders that are missing or do not fit together, or several draws together with seeds.
    """
    unit = rows[0].unit
    _check_settings(settings)
    _check_seeds(draws, seeds, settings)
    sample = read_recipe(rows[0].recipe, settings).get("sample")
    if draws > 1 and sample is None:
        raise InputError(
            f"--draws {draws}: expected --low-resource, or sample=N among the settings, so that draws differ"
        )
    # Opened first, to fail before hours of training.
    blocks = DatasetBlocks(data / "test", unit)
    _check_options(data)
    there = Manifest.read(data / "train").documents
    if draws > 1 and isinstance(sample, int) and sample >= there:
        raise InputError(
            f"--draws {draws}: expected more documents than sample={sample} in {data / 'train'}, so that draws differ, "
            f"got {there}; set a smaller sample, or leave out --draws"
        )
    folders = []
    varied, setting, count = ("draw", "sample_seed", draws) if seeds is None else ("seed", "seed", seeds)
    for row in rows:
        for number in range(1, count + 1):
            folder = runs / Path(row.recipe).name / f"{varied}-{number}"
            content = read_recipe(row.recipe, [f"data={data}", *settings, f"{setting}={number}"])
            report(f"{row.setting}, {row.label}, {varied} {number} of {count}")
            folders.append(train_summarizer(content, folder, report))
    models = [ExtractiveSummarizer.from_pretrained(folder) for folder in folders]
    # The rows have the same length of summaries, which the settings may change.
    policy = default_policy(unit, models[0].default_units(unit))
    systems: list[System] = [extractive_system("lead", baseline("lead"), policy), oracle_system(unit)]
    systems += [extractive_system(str(folder), model, policy) for folder, model in zip(folders, models, strict=True)]
    found = compare_models(blocks, systems)
    results = [RowResult(f"Lead{policy.budget.units}", "", found[:1], LEAD_FIGURES[unit], None, {})]
    results.append(RowResult("Oracle", "", found[1:2], ORACLE_FIGURES[unit], None, {}))
    for place, row in enumerate(rows):
        parameters = models[place * count].parameter_count()
        scores = found[2 + place * count : 2 + (place + 1) * count]
        results.append(RowResult(row.label, row.setting, scores, row.paper, parameters, {}))
    return _with_daggers(results, rows)


def _check_settings(settings: Sequence[str]) -> None:
    """Check that settings do not change what makes a row the row of its table."""
    names = [setting.partition("=")[0] for setting in settings]
    if wrong := [name for name in names if any(_overlap(name, fixed) for fixed in FIXED)]:
        raise InputError(f"--set: expected no fields that define the rows or the data, got {', '.join(wrong)}")


def _overlap(name: str, other: str) -> bool:
    """Return whether a field is the other one, or a group that contains it."""
    return f"{other}.".startswith(f"{name}.") or f"{name}.".startswith(f"{other}.")


def _check_seeds(draws: int, seeds: int | None, settings: Sequence[str]) -> None:
    """Check that the runs of a row differ either in training documents or in seed, not in both."""
    names = {setting.partition("=")[0] for setting in settings}
    if seeds is None:
        if "sample_seed" in names:
            raise InputError(
                f"--draws {draws}: expected no sample_seed among the settings; the draws have the seeds 1 to {draws}"
            )
        return
    if draws > 1:
        raise InputError(
            f"--seeds {seeds}: expected a single draw with several seeds, got --draws {draws}; leave one out"
        )
    if "seed" in names:
        raise InputError(f"--seeds {seeds}: expected no seed among the settings; the seeds are 1 to {seeds}")


def _check_options(data: Path) -> None:
    """Check that the folders `train`, `validation` and `test` were made with the same options."""
    names = ("train", "validation", "test")
    made = {name: Manifest.read(data / name).recipe for name in names}
    for name in names[1:]:
        there, here = ({key: made[one][key] for key in SHARED} for one in (name, names[0]))
        changed = differences(there, here)
        if changed:
            raise InputError(
                f"{data / name}: expected a folder made with the same options as {names[0]}, got {changed}"
            )


def _with_daggers(results: Sequence[RowResult], rows: Sequence[TableRow]) -> list[RowResult]:
    """Return the results with daggers; the first two results are Lead and Oracle."""
    marked = list(results)
    for setting in SETTINGS:
        places = [place for place, result in enumerate(results) if result.setting == setting]
        if not places:
            continue
        eight = next(place for place in places if rows[place - 2].recipe.endswith(EIGHT_HEADS))
        single = [place for place in places if place != eight]
        best = {metric: max(single, key=lambda place: results[place].documents(metric).mean()) for metric in METRICS}
        for place in single:
            row = results[place]
            found = {
                metric: ("†" if _not_significantly_worse(row, results[best[metric]], metric) else "")
                + ("‡" if _not_significantly_worse(row, results[eight], metric) else "")
                for metric in METRICS
            }
            marked[place] = replace(row, daggers=found)
    return marked


def _not_significantly_worse(row: RowResult, other: RowResult, metric: str) -> bool:
    """Return whether a row is not significantly worse than another."""
    if row is other:
        return True
    paired = paired_bootstrap(row.documents(metric), other.documents(metric))
    return paired.difference >= 0 or paired.p_value >= SIGNIFICANCE_LEVEL
