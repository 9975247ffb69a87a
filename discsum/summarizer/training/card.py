"""The model card of a trained summarizer, written from its run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import yaml

from discsum.constants import VECTORS
from discsum.encoder.synthesizer import SynthesizerConfig
from discsum.metrics.rouge import signature
from discsum.summarizer.folder import SummarizerConfig
from discsum.summarizer.training.recipe import SummarizerRecipe
from discsum.training.task import LogEntry


def summarizer_card(
    recipe: SummarizerRecipe,
    config: SummarizerConfig,
    network: SynthesizerConfig,
    documents: tuple[int, int],
    log: Sequence[LogEntry],
    best: LogEntry,
    notes: str,
) -> str:
    """Return the model card of a run: a description, the data, the recipe and the validation figures.

    `documents` are the numbers of training and validation documents.
    """
    rows = "\n".join(
        f"| {entry.steps} | {entry.loss} | {' | '.join(f'{value:.2f}' for value in entry.validation.values())} |"
        for entry in log
    )
    taken = f"drawn (draw {recipe.draw}) from" if recipe.sample else "of"
    train, validation = (", ".join(map(str, sources)) for sources in (recipe.train, recipe.validation))
    # The width and the number of features follow from the inputs, not from the recipe.
    settings = yaml.safe_dump(replace(recipe, synthesizer=network).to_dict(), sort_keys=False)
    pooled = recipe.vectors in VECTORS
    hub_encoder = f"{recipe.vectors}{f' at {config.revision}' if config.revision else ''}"
    encoder = f"{recipe.vectors} unit vectors of that parser's encoder" if pooled else f"unit vectors of {hub_encoder}"
    weights = "the running average of the run" if recipe.average else "those"
    trained = f"the last {recipe.encoder_layers} layers, which were trained, are part of the model"
    copied = trained if recipe.encoder_layers else "no weights are part of the model: it was frozen"
    rules = ", without units that share a trigram with what is selected" if recipe.block_trigrams else ""
    if recipe.brevity:
        penalized = "each word after the 20th" if recipe.unit == "sentence" else "each word"
        rules += f"; brevity {recipe.brevity:g}, a penalty on a unit's log-odds for {penalized}"
    if recipe.redundancy:
        rules += f"; redundancy {recipe.redundancy:g}, a penalty times the share of its bigrams that are selected"
    license = f"license: {recipe.license}\n" if recipe.license else ""
    features = f" and {network.features} features of each unit's position and form" if network.features else ""
    return f"""\
---
{license}language: en
tags: [summarization, extractive, rst]
---
# {config.name}

Scores the {recipe.unit}s of a text by how likely they belong to its summary: the Synthesizer encoder of Xiao, Huber and
Carenini 2020 with the {recipe.synthesizer.head} head on trees of the parser {recipe.parser},
over {encoder}{features}. Use it with `discsum extract --model FOLDER`.
Weights are {weights} after step {best.steps}, stored as float16; of the encoder {copied}. The parser's card
names its data and licence.

## Data

Trained on {documents[0]} documents {taken} {train}. Chosen on {documents[1]} documents of {validation} by
{recipe.choose}. Labels: the {recipe.oracle} oracle. These corpora have their own licences; no text of theirs is part of
this model.

{notes}
## Validation

Summaries of {recipe.units} {recipe.unit}s{rules}. `{signature()}`

| step | loss | R-1 | R-2 | R-Lsum |
|---|---|---|---|---|
{rows}

## Recipe

```yaml
{settings}```
"""
