"""The model card of a trained summarizer, written from its run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import yaml

from discsum.constants import VECTORS
from discsum.encoder.synthesizer import SynthesizerConfig
from discsum.errors import number_of
from discsum.metrics.rouge import signature
from discsum.persistence import card_header, language_of
from discsum.summarizer.folder import SummarizerConfig
from discsum.summarizer.training.recipe import SummarizerRecipe
from discsum.training.task import LogEntry


def summarizer_card(
    recipe: SummarizerRecipe,
    config: SummarizerConfig,
    network: SynthesizerConfig,
    documents: tuple[int, int],
    given_trees: int,
    log: Sequence[LogEntry],
    best: LogEntry,
    notes: str,
) -> str:
    """Return the model card of a run: a description, the data, the recipe and the validation figures.

    `documents` are the numbers of training and validation documents, and `given_trees` is the number of documents in
    the training sources that came with their own tree.
    """
    rows = "\n".join(
        f"| {entry.steps} | {entry.loss} | {' | '.join(f'{value:.2f}' for value in entry.validation.values())} |"
        for entry in log
    )
    taken = f"drawn (seed {recipe.sample_seed}) from" if recipe.sample else "of"
    train, validation = (", ".join(map(str, sources)) for sources in (recipe.train, recipe.validation))
    # The width and the number of features follow from the inputs, not from the recipe.
    settings = yaml.safe_dump(replace(recipe, synthesizer=network).to_dict(), sort_keys=False)
    hub_encoder = f"{recipe.vectors}{f' at {config.revision}' if config.revision else ''}"
    source = "that parser's encoder" if recipe.vectors in VECTORS else hub_encoder
    kind = f"{recipe.vectors} " if recipe.vectors in VECTORS else ""
    features = f", and {network.features} features of each unit's position and form" if network.features else ""
    encoder = (
        f"The last {recipe.encoder_layers} layers of the encoder were trained too and are part of the model."
        if recipe.encoder_layers
        else "The encoder was frozen and is not part of the model."
    )
    unit = "EDU" if recipe.unit == "edu" else recipe.unit
    own = f"{number_of(given_trees, 'document')} of the training sources came with trees of their own. "
    own = own if given_trees else ""
    rules = ""
    if recipe.block_trigrams:
        rules += " A unit that shares a trigram with the summary is left out."
    if recipe.sentence_model is not None:
        rules += (
            f" The log-odds of each EDU are averaged with those that `{recipe.sentence_model}` gives its sentence, "
            f"whose share is {recipe.sentence_share:g}."
        )
    penalties = []
    if recipe.brevity:
        penalized = "each word after the 20th" if recipe.unit == "sentence" else "each word"
        penalties.append(f"`brevity` {recipe.brevity:g} for {penalized}")
    if recipe.redundancy:
        share = f"the share of the {unit}'s bigrams that are already in the summary"
        penalties.append(f"`redundancy` {recipe.redundancy:g} times {share}")
    if penalties:
        rules += f" Subtracted from the log-odds of each {unit}: {'; '.join(penalties)}."
    tags = ["summarization", "extractive", "rst"]
    header = card_header(license=recipe.license, language=language_of(recipe.parser), tags=tags)
    return f"""\
{header}# {config.name}

Gives each {unit} of a text the probability that it belongs to the summary. Use it with
`discsum extract --model FOLDER`. The network is the Synthesizer of Xiao, Huber and Carenini 2020 with the head
`{recipe.synthesizer.head}`, on trees of the parser `{recipe.parser}`, whose card names its own data and licence.
{own}The inputs are {kind}unit vectors of {source}{features}.

The weights are {recipe.saved_weights} after step {best.steps}, stored as float16. {encoder}

## Data

Trained on {documents[0]} documents {taken} {train}. The step was chosen by {recipe.validation_metric} on
{documents[1]} documents of {validation}. The labels are those of the oracle `{recipe.oracle}`. These corpora have their
own licences; no text of theirs is part of this model.

{notes}
## Validation

Summaries have up to {recipe.summary_units} {unit}s.{rules} Signature: `{signature()}`

| step | loss | R-1 | R-2 | R-Lsum |
|---|---|---|---|---|
{rows}

## Recipe

```yaml
{settings}```
"""
