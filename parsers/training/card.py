"""The model card of a trained parser, written from its run."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from typing import Any

import yaml

from discsum.parsers.training.evaluation import ParserScores
from discsum.parsers.training.model_soup import SeedRun
from discsum.parsers.training.recipe import ParserRecipe
from discsum.parsers.training.trainer import best_of

_DATA = """\
Trained on the train split of GUM (Georgetown University Multilayer corpus, Zeldes 2017), chosen on its dev split; the
test split was not used. GUM's annotations are CC BY 4.0; its texts come under the licence of their
source, mostly CC BY or CC BY-SA, some CC BY-NC-SA. No text of the corpus is part of this model.
"""


_TEACHERS = """\
Beside gold trees it learned what teachers, parsers trained before, said of texts without trees. No text of theirs is
part of this model.

- teachers: {teachers}
- texts, at most {longest} characters of each: {texts}
"""


def parser_card(name: str, recipe: ParserRecipe, log: Sequence[Mapping[str, Any]], notes: str) -> str:
    """Return the card of one run: what the model is, its data and licences, its recipe, its figures epoch by epoch."""
    rows = [f"| {entry['epoch']} | {entry['dev']} | {entry['losses']} |" for entry in log]
    figures = "\n".join(["| epoch | dev | losses: tags, splits, labels |", "|---|---|---|", *rows])
    return _card(name, recipe, f"the running average at epoch {best_of(log)['epoch']}", figures, notes)


def mean_card(name: str, recipe: ParserRecipe, runs: Sequence[SeedRun], scores: ParserScores, notes: str) -> str:
    """Return the card of several runs' mean: as `parser_card`, with the figures of each run and of the mean."""
    values = [_values(run.scores) for run in runs]
    mean = [statistics.mean(column) for column in zip(*values, strict=True)]
    rows = [(f"seed {run.seed}, epoch {run.epoch}", row) for run, row in zip(runs, values, strict=True)]
    rows.append(("*their mean*", mean))
    if len(runs) > 1:
        rows.append(("*their standard deviation*", [statistics.stdev(column) for column in zip(*values, strict=True)]))
    rows.append(("**mean of their weights**", _values(scores)))
    table = ["| | EDUs | sentences | gold EDUs | raw text, start | raw text, end |", "|---|---|---|---|---|---|"]
    table += [f"| {label} | {_cells(row)} |" for label, row in rows]
    kept = f"the mean of those of {len(runs)} runs that began alike, each a running average at its best epoch"
    return _card(name, recipe, kept, "\n".join(table), notes)


def _values(scores: ParserScores) -> list[float]:
    trees = (scores.gold, scores.raw_start, scores.raw_end)
    found = (value for tree in trees for value in (tree.span, tree.nuclearity, tree.relation, tree.full))
    return [scores.edus.f1, scores.sentences.f1, *found]


def _cells(values: Sequence[float]) -> str:
    shown = [f"{value:.1f}" for value in values]
    return " | ".join([*shown[:2], *(" / ".join(shown[first : first + 4]) for first in (2, 6, 10))])


def _card(name: str, recipe: ParserRecipe, kept: str, figures: str, notes: str) -> str:
    data = _DATA
    if recipe.teachers:
        texts = ", ".join(map(str, recipe.texts))
        data += _TEACHERS.format(teachers=", ".join(recipe.teachers), longest=recipe.longest, texts=texts)
    if recipe.start:
        data += f"\nIt began with the layers that fit of another parser, {recipe.start}.\n"
    settings = yaml.safe_dump(recipe.to_dict(), sort_keys=False)
    return f"""\
---
license: apache-2.0
language: en
tags: [rst, discourse-parsing, discourse-segmentation]
base_model: {recipe.encoder}
---
# {name}

Sentences, elementary discourse units and an RST tree from raw English text; use it with
`discsum parse --parser FOLDER`. Weights are {kept}, stored as float16.

## Data

{data}
The encoder it goes back to, {recipe.encoder}, is under its own licence.

## Figures on GUM dev

Segmentation F1 of EDUs and sentences from raw text; original Parseval S/N/R/F with gold EDUs, and from raw text
with spans named by the start and by the end of their first EDU.

{figures}

{notes}
## Recipe

```yaml
{settings}```
"""
