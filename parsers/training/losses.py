"""The parser's losses on a batch of documents."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
from torch import Tensor, nn

from discsum.devices import to_device
from discsum.parsers.edu_vectors import EDULayout
from discsum.parsers.network import ParserNetwork
from discsum.parsers.segmenter import INSIDE, boundary_probabilities, predicted_starts
from discsum.parsers.structure import DESIGNS, joined_nodes
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
        examples.append(prune(changed, generator, recipe.section, recipe.drop_satellites) if is_gold else changed)
        shifts.append(int(generator.integers(0, recipe.network.window // 2)))
        predicted.append(is_gold and predict and generator.random() < recipe.predicted_edus)
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
        tags = to_device(np.concatenate([example.tags for example in batch.examples]), network.device)
        tag_loss = torch.nn.functional.cross_entropy(torch.cat(logits), tags, reduction="sum")
        targets = [
            _predicted_targets(example, document_logits, network) if predicted else example.targets
            for example, predicted, document_logits in zip(batch.examples, batch.predicted, logits, strict=True)
        ]
        layouts = [
            network.layout(words, target.edu_starts, target.sentence_starts)
            for words, target in zip(inputs, targets, strict=True)
        ]
        states, layout, edges = network.read_edus(vectors, layouts)
        counts = [len(own.starts) for own in layouts]
        wanted = [target.nodes if target.expected is None else target.expected for target in targets]
        splits = DESIGNS[recipe.network.design].loss(network.splits(states, layout, counts), wanted)
        labels = _label_loss(network, states, layout, edges, targets, recipe.smoothing)
        nodes = sum(len(target.nodes) for target in targets)
        return LossSums(tag_loss, splits, labels, tag_loss.new_full((), float(nodes)))


def _label_loss(
    network: ParserNetwork,
    states: Tensor,
    layout: EDULayout,
    edges: Tensor | None,
    targets: Sequence[Targets],
    smoothing: float,
) -> Tensor:
    """Return the sum of the nodes' label losses, the mean over passes; only gold labels are smoothed."""
    nodes = joined_nodes([target.nodes for target in targets], [len(target.edu_starts) for target in targets])
    if not len(nodes):
        return states.new_zeros(())
    passes = network.label(states, layout, edges, nodes)
    is_soft = np.repeat([target.expected is not None for target in targets], [len(target.nodes) for target in targets])
    total = states.new_zeros(())
    for soft in (False, True):
        labels = [one.labels for one in targets if (one.expected is not None) == soft and len(one.nodes)]
        if labels:
            wanted = to_device(np.concatenate(labels), states.device)
            rows = to_device(np.flatnonzero(is_soft == soft), states.device)
            for found in passes:
                total = total + torch.nn.functional.cross_entropy(
                    found[rows], wanted, label_smoothing=0.0 if soft else smoothing, reduction="sum"
                )
    return total / len(passes)


def _predicted_targets(example: Example, tags: Tensor, network: ParserNetwork) -> Targets:
    edus, sentences = boundary_probabilities(tags).cpu().numpy()
    return restrict_to_predicted(example, *predicted_starts(edus, sentences, example.subwords, network.thresholds))
