"""The parser's losses on a batch of documents."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
from torch import Tensor

from discsum.parsers.network import ParserNetwork
from discsum.parsers.segmenter import INSIDE, boundary_probabilities, starts_from
from discsum.parsers.structure import SplitScores, design
from discsum.parsers.training.augment import pruned, relaid
from discsum.parsers.training.examples import Example, Targets, over_predicted
from discsum.parsers.training.recipe import ParserRecipe


@dataclass(frozen=True)
class Losses:
    """Mean losses of a batch: boundary tags a subword, splits a node, labels a node."""

    tags: Tensor
    splits: Tensor
    labels: Tensor

    def total(self, recipe: ParserRecipe) -> Tensor:
        """Return the weighted sum that is minimised."""
        return recipe.tag_weight * self.tags + self.splits + recipe.label_weight * self.labels


def batch_losses(
    network: ParserNetwork,
    gold: Sequence[Example],
    silver: Sequence[Example],
    recipe: ParserRecipe,
    random: np.random.Generator,
    predict: bool,
) -> Losses:
    """Return the losses of gold documents, and of others as teachers see them.

    With `predict` some gold trees are learned over EDUs predicted on the spot.
    """
    # Lines are laid out first: what is left out of a document later does not move its line breaks.
    examples = [
        replace(example, subwords=relaid(example.subwords, recipe.flatten, random)) for example in [*gold, *silver]
    ]
    examples[: len(gold)] = [pruned(example, random, recipe.section, recipe.drop) for example in examples[: len(gold)]]
    inputs = [example.subwords for example in examples]
    shifts = random.integers(0, recipe.network.window // 2, size=len(inputs)).tolist()
    with torch.autocast(network.device.type, dtype=torch.bfloat16, enabled=recipe.bf16):
        vectors = network.encoder(inputs, shifts)
    logits = network.tag(vectors, inputs)
    tags = torch.from_numpy(np.concatenate([example.tags for example in examples])).to(network.device)
    # Starts are one subword in ten; the sum over all subwords a start keeps the loss on the scale of the others.
    tag_loss = torch.nn.functional.cross_entropy(torch.cat(logits), tags, reduction="sum")
    tag_loss = tag_loss / (1.0 - tags[:, INSIDE]).sum()
    targets = [example.targets for example in examples]
    for place, example in enumerate(examples[: len(gold)]):
        if predict and random.random() < recipe.predicted:
            targets[place] = _predicted(example, logits[place], network)
    layouts = [
        network.layout(words, target.edu_starts, target.sentence_starts)
        for words, target in zip(inputs, targets, strict=True)
    ]
    states = network.edus(vectors, layouts)
    split_losses, label_losses, counts = [], [], []
    for state, layout, target in zip(states, layouts, targets, strict=True):
        if not len(target.nodes):
            continue
        split_losses.append(_split_loss(network.splits(state, layout), target, recipe) * len(target.nodes))
        logits_of_nodes = network.labels(state, layout.openings, torch.from_numpy(target.nodes).to(network.device))
        label_losses.append(
            torch.nn.functional.cross_entropy(
                logits_of_nodes,
                torch.from_numpy(target.labels).to(network.device),
                label_smoothing=recipe.smoothing if target.expected is None else 0.0,
                reduction="sum",
            )
        )
        counts.append(len(target.nodes))
    nodes = max(1, sum(counts))
    zero = tag_loss.new_zeros(())
    return Losses(tag_loss, sum(split_losses, zero) / nodes, sum(label_losses, zero) / nodes)


def _split_loss(scores: SplitScores, target: Targets, recipe: ParserRecipe) -> Tensor:
    chosen = design(recipe.network.design)
    if target.expected is None:
        return chosen.loss(scores, target.nodes)
    assert chosen.soft_loss is not None, "recipes with teachers have such a design"
    return chosen.soft_loss(scores, target.expected)


def _predicted(example: Example, tags: Tensor, network: ParserNetwork) -> Targets:
    edus, sentences = boundary_probabilities(tags)
    sentence_starts = starts_from(sentences, example.subwords, network.config.sentence_threshold)
    edu_starts = starts_from(edus, example.subwords, network.config.edu_threshold, sentence_starts)
    return over_predicted(example, edu_starts, sentence_starts)
