"""The parser's losses on a batch of documents."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
from torch import Tensor, nn

from discsum.parsers.network import ParserNetwork
from discsum.parsers.segmenter import INSIDE, boundary_probabilities, starts_from
from discsum.parsers.structure import SplitScores, design
from discsum.parsers.training.augment import pruned, relaid
from discsum.parsers.training.examples import Example, Targets, over_predicted
from discsum.parsers.training.recipe import ParserRecipe


@dataclass(frozen=True)
class ParserBatch:
    """Documents as they are learned from in one step.

    Attributes:
        examples: Gold documents, and others as teachers see them.
        shifts: Subwords by which each one's windows are shifted.
        predicted: Which are learned over EDUs that are predicted on the spot.
    """

    examples: tuple[Example, ...]
    shifts: tuple[int, ...]
    predicted: tuple[bool, ...]

    @property
    def starts(self) -> float:
        """How many units begin in the documents, in expectation where teachers say so."""
        return float(sum((1.0 - example.tags[:, INSIDE]).sum(dtype=np.float64) for example in self.examples))

    @property
    def nodes(self) -> int:
        """How many nodes the documents' trees have over their own EDUs."""
        return sum(len(example.targets.nodes) for example in self.examples)


@dataclass(frozen=True)
class LossSums:
    """Sums of losses over a batch: boundary tags over subwords, splits and labels over so many `nodes`."""

    tags: Tensor
    splits: Tensor
    labels: Tensor
    nodes: Tensor


def make_batch(
    gold: Sequence[Example],
    silver: Sequence[Example],
    recipe: ParserRecipe,
    random: Sequence[np.random.Generator],
    predict: bool,
) -> ParserBatch:
    """Return a batch in which documents are laid out in other lines, and some gold ones are smaller.

    Args:
        gold: Documents with gold trees.
        silver: Documents as teachers see them.
        recipe: How often what is done to a document.
        random: A source of chance for each document, gold ones first.
        predict: Whether some gold trees are learned over predicted EDUs.
    """
    examples, shifts, predicted = [], [], []
    for place, (example, chance) in enumerate(zip([*gold, *silver], random, strict=True)):
        # Lines are laid out first: what is left out of a document later does not move its line breaks.
        laid_out = replace(example, subwords=relaid(example.subwords, recipe.flatten, chance))
        is_gold = place < len(gold)
        examples.append(pruned(laid_out, chance, recipe.section, recipe.drop) if is_gold else laid_out)
        shifts.append(int(chance.integers(0, recipe.network.window // 2)))
        predicted.append(is_gold and predict and chance.random() < recipe.predicted)
    return ParserBatch(tuple(examples), tuple(shifts), tuple(predicted))


class ParserObjective(nn.Module):
    """A parser's network whose forward pass gives its losses."""

    def __init__(self, parser: ParserNetwork, recipe: ParserRecipe) -> None:
        """Keep the network and how it is trained."""
        super().__init__()
        self.parser, self.recipe = parser, recipe

    def forward(self, batch: ParserBatch) -> LossSums:
        """Return the losses of a batch: the encoder's part in the recipe's precision, all else in float32."""
        parser, recipe = self.parser, self.recipe
        kind = parser.device.type
        inputs = [example.subwords for example in batch.examples]
        with torch.autocast(kind, dtype=torch.bfloat16, enabled=recipe.bf16):
            vectors = parser.encoder(inputs, batch.shifts)
        # The charts' sums of exponentials need the precision.
        with torch.autocast(kind, enabled=False):
            return self._losses(batch, vectors)

    def _losses(self, batch: ParserBatch, vectors: list[Tensor]) -> LossSums:
        network, recipe = self.parser, self.recipe
        inputs = [example.subwords for example in batch.examples]
        logits = network.tag(vectors, inputs)
        tags = torch.from_numpy(np.concatenate([example.tags for example in batch.examples])).to(network.device)
        tag_loss = torch.nn.functional.cross_entropy(torch.cat(logits), tags, reduction="sum")
        targets = [
            _predicted(example, tags_of, network) if predicted else example.targets
            for example, predicted, tags_of in zip(batch.examples, batch.predicted, logits, strict=True)
        ]
        layouts = [
            network.layout(words, target.edu_starts, target.sentence_starts)
            for words, target in zip(inputs, targets, strict=True)
        ]
        states = network.edus(vectors, layouts)
        splits = labels = tag_loss.new_zeros(())
        for state, layout, target in zip(states, layouts, targets, strict=True):
            if not len(target.nodes):
                continue
            splits = splits + _split_loss(network.splits(state, layout), target, recipe) * len(target.nodes)
            labels = labels + torch.nn.functional.cross_entropy(
                network.labels(state, layout.openings, torch.from_numpy(target.nodes).to(network.device)),
                torch.from_numpy(target.labels).to(network.device),
                label_smoothing=recipe.smoothing if target.expected is None else 0.0,
                reduction="sum",
            )
        nodes = sum(len(target.nodes) for target in targets)
        return LossSums(tag_loss, splits, labels, tag_loss.new_tensor(float(nodes)))


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
