"""The model card of a trained abstractive summarizer, written from its run."""

from __future__ import annotations

from collections.abc import Sequence
from textwrap import fill

import yaml

from discsum.abstractive.family import FamilyCard
from discsum.abstractive.recipe import AbstractiveRecipe
from discsum.persistence import card_header, language_of
from discsum.training.task import LogEntry

# Characters per line.
WIDTH = 110


def abstractive_card(
    name: str, recipe: AbstractiveRecipe, family: FamilyCard, log: Sequence[LogEntry], best: LogEntry, notes: str
) -> str:
    """Return the card of a run: the model, its data, its validation figures and its recipe."""
    names = list(best.validation)
    rows = "\n".join(
        f"| {entry.steps} | {entry.loss} | {' | '.join(str(entry.validation[name]) for name in names)} |"
        for entry in log
    )
    sample = f", {recipe.sample} documents of them (seed {recipe.sample_seed})" if recipe.sample else ""
    train, validation = (", ".join(map(str, sources)) for sources in (recipe.train, recipe.validation))
    tags = ["summarization", "abstractive", family.tag]
    header = card_header(license=recipe.license, language=language_of(recipe.parser), tags=tags)
    model = (
        f"{family.model} It was initialised from {recipe.model or family.initial}. The weights are "
        f"{recipe.saved_weights} after step {best.steps}."
    )
    return f"""\
{header}# {name}

{fill(model, WIDTH, break_long_words=False, break_on_hyphens=False)}

## Data

The task was `{recipe.task}`. Trained on {train}{sample}. The step was chosen by the loss on {validation}. These corpora
have their own licences; no text of theirs is part of this model.

## Validation

Objective: {family.objective}. Losses are per token, in nats.

| step | training loss | {" | ".join(names)} |
|---|---|{"---|" * len(names)}
{rows}

{notes}
## Recipe

```yaml
{yaml.safe_dump(recipe.to_dict(), sort_keys=False)}```
"""
