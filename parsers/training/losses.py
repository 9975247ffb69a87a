"""The parser's losses on a batch of documents."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from discsum.parsers.network import ParserNetwork, layout_of
from discsum.parsers.segmenter import INSIDE, boundary_probabilities, starts_from
from discsum.parsers.structure import SplitScores, design
from discsum.parsers.subwords import GAPS, Subwords
from discsum.parsers.training.augment import pruned
from discsum.parsers.training.examples import Example, Targets, over_predicted
from discsum.parsers.training.recipe import ParserRecipe

SPACE, NEWLINE = GAPS.index("space"), GAPS.index("newline")
# The width that wrapped texts are wrapped to.
COLUMNS = 72


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
        replace(example, subwords=_flattened(example.subwords, recipe.flatten, random)) for example in [*gold, *silver]
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
        layout_of(words, target.edu_starts, target.sentence_starts, network.device)
        for words, target in zip(inputs, targets, strict=True)
    ]
    states = network.edus(vectors, layouts)
    split_losses, label_losses, counts = [], [], []
    for state, layout, target in zip(states, layouts, targets, strict=True):
        if not len(target.nodes):
            continue
        split_losses.append(_split_loss(network.splits(state, layout.openings), target, recipe) * len(target.nodes))
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


def _flattened(subwords: Subwords, share: float, random: np.random.Generator) -> Subwords:
    """Return the subwords, sometimes with other line breaks and sometimes without case, as plain texts come."""
    gaps, cases = subwords.gaps, subwords.cases
    if random.random() < share:
        gaps = LAYOUTS[random.integers(len(LAYOUTS))](subwords)
        gaps[:1] = subwords.gaps[:1]
    if random.random() < share:
        cases = np.where((cases == 1) | (cases == 2), 0, cases)
    return Subwords(subwords.ids, subwords.starts, subwords.ends, gaps, cases, subwords.opens)


def _one_line(subwords: Subwords) -> NDArray[np.int64]:
    return np.minimum(subwords.gaps, SPACE)


def _a_paragraph_a_line(subwords: Subwords) -> NDArray[np.int64]:
    return np.minimum(subwords.gaps, NEWLINE)


def _wrapped(subwords: Subwords) -> NDArray[np.int64]:
    gaps = subwords.gaps.copy()
    words = np.flatnonzero(gaps >= SPACE)
    starts = subwords.starts[words]
    # Columns count from the last line break that was there.
    begins = np.maximum.accumulate(np.where(gaps[words] >= NEWLINE, starts, 0))
    column = (starts - begins) // COLUMNS
    wraps = (np.diff(column, prepend=0) > 0) & (gaps[words] == SPACE)
    gaps[words[wraps]] = NEWLINE
    return gaps


LAYOUTS = (_one_line, _a_paragraph_a_line, _wrapped)
