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
from discsum.parsers.training.augment import prune, relayout
from discsum.parsers.training.examples import Example, Targets, restrict_to_predicted
from discsum.parsers.training.recipe import ParserRecipe


@dataclass(frozen=True)
class ParserBatch:
    """Documents of one training step.

    Attributes:
        examples: Gold documents, then pseudo-labelled texts.
        shifts: Shift of each document's windows in subwords.
        predicted: Whether each tree is learned over EDUs that the network predicts in this step.
    """

    examples: tuple[Example, ...]
    shifts: tuple[int, ...]
    predicted: tuple[bool, ...]

    @property
    def starts(self) -> float:
        """Number of EDU and sentence starts in the documents, expected numbers in pseudo-labelled ones."""
        return float(sum((1.0 - example.tags[:, INSIDE]).sum(dtype=np.float64) for example in self.examples))

    @property
    def nodes(self) -> int:
        """Number of nodes of the documents' trees over their own EDUs."""
        return sum(len(example.targets.nodes) for example in self.examples)


@dataclass(frozen=True)
class LossSums:
    """Sums of losses over a batch: boundary tags over subwords, splits and labels over `nodes` nodes."""

    tags: Tensor
    splits: Tensor
    labels: Tensor
    nodes: Tensor


def make_batch(
    gold: Sequence[Example],
    pseudo_labelled: Sequence[Example],
    recipe: ParserRecipe,
    random: Sequence[np.random.Generator],
    predict: bool,
) -> ParserBatch:
    """Return a batch of augmented documents.

    Args:
        gold: Documents with gold trees.
        pseudo_labelled: Documents labelled by teachers.
        recipe: Recipe with the probability of each augmentation.
        random: A random generator for each document, gold ones first.
        predict: Whether some gold trees are learned over predicted EDUs.
    """
    examples, shifts, predicted = [], [], []
    for index, (example, generator) in enumerate(zip([*gold, *pseudo_labelled], random, strict=True)):
        # Line breaks come first, so that they do not depend on what is pruned.
        changed = replace(example, subwords=relayout(example.subwords, recipe.flatten, generator))
        is_gold = index < len(gold)
        examples.append(prune(changed, generator, recipe.section, recipe.drop) if is_gold else changed)
        shifts.append(int(generator.integers(0, recipe.network.window // 2)))
        predicted.append(is_gold and predict and generator.random() < recipe.predicted)
    return ParserBatch(tuple(examples), tuple(shifts), tuple(predicted))


class ParserObjective(nn.Module):
    """A module whose forward pass returns a parser's losses."""

    def __init__(self, parser: ParserNetwork, recipe: ParserRecipe) -> None:
        """Wrap the network."""
        super().__init__()
        self.parser, self.recipe = parser, recipe

    def forward(self, batch: ParserBatch) -> LossSums:
        """Return the losses of a batch; the encoder runs in the recipe's precision, all else in float32."""
        parser, recipe = self.parser, self.recipe
        kind = parser.device.type
        inputs = [example.subwords for example in batch.examples]
        with torch.autocast(kind, dtype=torch.bfloat16, enabled=recipe.bf16):
            vectors = parser.encoder(inputs, batch.shifts)
        # The chart's sums of exponentials need float32.
        with torch.autocast(kind, enabled=False):
            return self._losses(batch, vectors)

    def _losses(self, batch: ParserBatch, vectors: list[Tensor]) -> LossSums:
        network, recipe = self.parser, self.recipe
        inputs = [example.subwords for example in batch.examples]
        logits = network.tag(vectors, inputs)
        tags = torch.from_numpy(np.concatenate([example.tags for example in batch.examples])).to(network.device)
        tag_loss = torch.nn.functional.cross_entropy(torch.cat(logits), tags, reduction="sum")
        targets = [
            _predicted_targets(example, document_logits, network) if predicted else example.targets
            for example, predicted, document_logits in zip(batch.examples, batch.predicted, logits, strict=True)
        ]
        layouts = [
            network.layout(words, target.edu_starts, target.sentence_starts)
            for words, target in zip(inputs, targets, strict=True)
        ]
        states = network.edus(vectors, layouts)
        splits = labels = tag_loss.new_zeros(())
        for vector, state, layout, target in zip(vectors, states, layouts, targets, strict=True):
            if not len(target.nodes):
                continue
            splits = splits + _split_loss(network.splits(state, layout), target, recipe) * len(target.nodes)
            wanted = torch.from_numpy(target.labels).to(network.device)
            smoothing = recipe.smoothing if target.expected is None else 0.0
            passes = [
                torch.nn.functional.cross_entropy(found, wanted, label_smoothing=smoothing, reduction="sum")
                for found in network.label(state, layout, network.edges(vector, layout), target.nodes)
            ]
            labels = labels + torch.stack(passes).mean()
        nodes = sum(len(target.nodes) for target in targets)
        return LossSums(tag_loss, splits, labels, tag_loss.new_tensor(float(nodes)))


def _split_loss(scores: SplitScores, target: Targets, recipe: ParserRecipe) -> Tensor:
    used = design(recipe.network.design)
    if target.expected is None:
        return used.loss(scores, target.nodes)
    assert used.soft_loss is not None, "recipes check that designs with teachers have it"
    return used.soft_loss(scores, target.expected)


def _predicted_targets(example: Example, tags: Tensor, network: ParserNetwork) -> Targets:
    edus, sentences = boundary_probabilities(tags).cpu().numpy()
    sentence_starts = starts_from(sentences, example.subwords, network.config.sentence_threshold)
    edu_starts = starts_from(edus, example.subwords, network.config.edu_threshold, sentence_starts)
    return restrict_to_predicted(example, edu_starts, sentence_starts)
