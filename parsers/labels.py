"""Nuclearity and relation of each node of a tree."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from discsum.parsers.structure.scores import SIZE_BUCKETS
from discsum.relation_classes import GUM_CLASSES, RelationClasses
from discsum.tree import NUCLEARITIES

Label = tuple[str, str]
# Nodes that are labelled together.
PIECE = 256


class LabelScorer(nn.Module):
    """Scores labels, each a nuclearity with a relation, from both children of a node.

    A label's score is the sum of three: its own, that of its nuclearity with the relation's class, and
    its nuclearity's, so that rare labels learn from their class.
    """

    def __init__(
        self,
        labels: Sequence[Label],
        hidden: int,
        inner: int = 384,
        dropout: float = 0.3,
        relation_classes: RelationClasses = GUM_CLASSES,
    ) -> None:
        """Build a scorer of `labels` from EDU states of size `hidden`."""
        super().__init__()
        self.labels = tuple((nuclearity, relation) for nuclearity, relation in labels)
        self.relation_classes = relation_classes
        coarse = [(nuclearity, relation_classes(relation)) for nuclearity, relation in self.labels]
        self.classes = sorted(set(coarse))
        self.input = nn.Linear(6 * hidden, inner)
        self.left_size = nn.Embedding(len(SIZE_BUCKETS) + 1, inner)
        self.right_size = nn.Embedding(len(SIZE_BUCKETS) + 1, inner)
        self.left_opening = nn.Embedding(4, inner)
        self.right_opening = nn.Embedding(4, inner)
        self.norm = nn.LayerNorm(inner)
        self.dropout = nn.Dropout(dropout)
        self.hidden = nn.Sequential(nn.Linear(inner, inner), nn.GELU(), nn.Dropout(dropout))
        self.label = nn.Linear(inner, len(self.labels))
        self.coarse = nn.Linear(inner, len(self.classes))
        self.nuclearity = nn.Linear(inner, len(NUCLEARITIES))
        class_of = torch.tensor([self.classes.index(pair) for pair in coarse])
        nuclearity_of = torch.tensor([NUCLEARITIES.index(nuclearity) for nuclearity, _ in self.labels])
        self.register_buffer("class_of", class_of, persistent=False)
        self.register_buffer("nuclearity_of", nuclearity_of, persistent=False)
        self.register_buffer("sizes", torch.tensor(SIZE_BUCKETS), persistent=False)

    def forward(self, states: Tensor, openings: Tensor, nodes: Tensor) -> Tensor:
        """Return `(nodes, labels)` logits.

        Args:
            states: `(edus, hidden)`.
            openings: `(edus,)` as in `EDULayout`.
            nodes: `(nodes, 3)` first, last and split.
        """
        # In float64: the difference of two sums over a long document keeps its digits.
        totals = torch.cat([states.new_zeros(1, states.shape[1], dtype=torch.float64), states.double().cumsum(dim=0)])
        # Some nodes at a time: what is made of each is six times as large as an EDU's state.
        pieces = [self._logits(states, totals, openings, some) for some in torch.split(nodes, PIECE)]
        return torch.cat(pieces)

    def _logits(self, states: Tensor, totals: Tensor, openings: Tensor, nodes: Tensor) -> Tensor:
        first, last, split = nodes.T
        left_size, right_size = split - first + 1, last - split
        left = ((totals[split + 1] - totals[first]) / left_size[:, None]).to(states.dtype)
        right = ((totals[last + 1] - totals[split + 1]) / right_size[:, None]).to(states.dtype)
        ends = [states[first], states[split], states[split + 1], states[last]]
        inner = self.input(self.dropout(torch.cat([*ends, left, right], dim=-1)))
        inner = inner + self.left_size(self._bucket(left_size)) + self.right_size(self._bucket(right_size))
        inner = inner + self.left_opening(openings[first]) + self.right_opening(openings[split + 1])
        inner = self.dropout(torch.nn.functional.gelu(self.norm(inner)))
        inner = inner + self.hidden(inner)
        coarse = self.coarse(inner)[:, self.get_buffer("class_of")]
        nuclearity = self.nuclearity(inner)[:, self.get_buffer("nuclearity_of")]
        logits: Tensor = self.label(inner) + coarse + nuclearity
        return logits

    def _bucket(self, sizes: Tensor) -> Tensor:
        return torch.bucketize(sizes - 1, self.get_buffer("sizes"), right=True)


@dataclass(frozen=True)
class Labelling:
    """The labels of some nodes: indices `(nodes,)` into the scorer's labels, and their probabilities `(nodes,)`."""

    labels: NDArray[np.int64]
    probabilities: NDArray[np.float64]


def choose(logits: Tensor, scorer: LabelScorer) -> Labelling:
    """Return the best label of each node.

    First the most probable nuclearity with relation class, then the best relation in it: a class
    split among several relations is not beaten by one that is not.
    """
    log_probabilities = torch.log_softmax(logits.detach().float().cpu(), dim=-1)
    class_of = scorer.get_buffer("class_of").cpu()
    probabilities = torch.zeros(len(logits), len(scorer.classes)).index_add(1, class_of, log_probabilities.exp())
    best = probabilities.argmax(dim=-1)
    within = log_probabilities.masked_fill(class_of[None, :] != best[:, None], float("-inf"))
    chosen = probabilities.gather(1, best[:, None]).squeeze(1).clamp(0.0, 1.0)
    return Labelling(within.argmax(dim=-1).numpy(), chosen.double().numpy())
