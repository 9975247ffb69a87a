"""The model card of a trained summarizer, written from its run."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import yaml

from discsum.encoder.units import VECTORS
from discsum.rouge import signature
from discsum.training.recipe import SummarizerRecipe

if TYPE_CHECKING:
    from discsum.training.extractive import SummarizerTrainer


def summarizer_card(name: str, recipe: SummarizerRecipe, trainer: SummarizerTrainer, notes: str) -> str:
    """Return the card of a finished run: what the model is, its data, its recipe, its validation figures."""
    log, network = trainer.log, trainer.scorer.network.config
    best = max(log, key=trainer.summary)
    rows = "\n".join(
        f"| {entry.steps} | {entry.loss} | {' | '.join(f'{value:.2f}' for value in entry.rouge.values())} |"
        for entry in log
    )
    sample = f", {recipe.sample} documents of them (draw {recipe.draw})" if recipe.sample else ""
    train, validation = (", ".join(map(str, sources)) for sources in (recipe.train, recipe.validation))
    # Width and layout features follow from the inputs, so the recipe does not know them.
    settings = yaml.safe_dump(replace(recipe, synthesizer=network).to_dict(), sort_keys=False)
    own = recipe.vectors in VECTORS
    encoder = f"{recipe.vectors} unit vectors of that parser's encoder" if own else f"unit vectors of {recipe.vectors}"
    trained = f"the last {recipe.encoder_layers} layers, which were trained, are part of the model"
    copied = trained if recipe.encoder_layers else "nothing is part of the model, it was frozen and is named only"
    features = f" and {network.features} features of each unit's place and form" if network.features else ""
    return f"""\
---
license: apache-2.0
language: en
tags: [summarization, extractive, rst]
---
# {name}

Scores the {recipe.unit}s of a text by how likely they belong to its summary: the Synthesizer encoder of Xiao, Huber and
Carenini 2020 with the {recipe.synthesizer.head} head on trees of the parser {recipe.parser},
over {encoder}{features}. Use it with `discsum extract --model FOLDER`.
Weights are the running average after step {best.steps}, stored as float16; of the encoder {copied}.

## Data

Trained on {train}{sample}. Chosen on {validation} by {recipe.choose}. Labels: the {recipe.oracle} oracle. The
corpora stand under licences of their own (docs/data.md in the project); no text of theirs is part of this model.

## Validation

Summaries of {recipe.units} {recipe.unit}s. `{signature()}`

| step | loss | R-1 | R-2 | R-Lsum |
|---|---|---|---|---|
{rows}

{notes}
## Recipe

```yaml
{settings}```
"""
