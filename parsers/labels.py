"""The label scorer: nuclearity and relation of each node of a tree."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from discsum.devices import to_device
from discsum.parsers.budgets import budget_of
from discsum.parsers.network_config import NetworkConfig
from discsum.parsers.running_sums import RunningSums
from discsum.parsers.structure.scores import SIZE_BUCKETS
from discsum.relation_classes import GUM_CLASSES, RelationClasses
from discsum.tree import NUCLEARITIES

Label = tuple[str, str]
# Nodes labelled in one batch, at least.
PIECE = 256


@dataclass(frozen=True)
class LabelInputs:
    """Inputs of the label scorer for the EDUs of one document, or of several documents, concatenated.

    Attributes:
        states: `(edus, hidden)`.
        openings: `(edus,)` as in `EDULayout`.
        edges: `(edus, 2, edges)` projections of each EDU's first and last subword, for scorers that read them.
    """

    states: Tensor
    openings: Tensor
    edges: Tensor | None = None


class LabelScorer(nn.Module):
    """Scores labels, each a nuclearity with a relation, from both children of a node.

    A label's logit is the sum of three: one of the label itself, one of its nuclearity with the relation's class, and
    one of its nuclearity. So rare labels learn from their class. Relations hold between nuclei, so with `label_heads`
    there are two passes: the nuclearities predicted by the first determine the head EDU of each child, and the second
    also reads the states of these EDUs.
    """

    def __init__(
        self,
        labels: Sequence[Label],
        width: int,
        config: NetworkConfig,
        relation_classes: RelationClasses = GUM_CLASSES,
    ) -> None:
        """Build a scorer of `labels` from EDU states, and from subword vectors of size `width`."""
        super().__init__()
        hidden, inner, dropout = config.hidden, config.label_inner, config.dropout
        self.labels = tuple((nuclearity, relation) for nuclearity, relation in labels)
        self.relation_classes = relation_classes
        coarse = [(nuclearity, relation_classes(relation)) for nuclearity, relation in self.labels]
        self.classes = sorted(set(coarse))
        self.input = nn.Linear(6 * hidden, inner)
        self.left_size = nn.Embedding(len(SIZE_BUCKETS) + 1, inner)
        self.right_size = nn.Embedding(len(SIZE_BUCKETS) + 1, inner)
        self.left_opening = nn.Embedding(4, inner)
        self.right_opening = nn.Embedding(4, inner)
        if config.label_rank:
            self.factors = nn.ModuleList(nn.Linear(3 * hidden, config.label_rank) for _ in range(2))
            self.product = nn.Linear(config.label_rank, inner)
        if config.label_edges:
            self.edges = nn.Linear(width, config.label_edges)
            self.edge_input = nn.Linear(4 * config.label_edges, inner, bias=False)
        if config.label_heads:
            self.heads = nn.Linear(2 * hidden, inner)
        # Optional inputs start with zero weights, so that training can continue from a scorer without them.
        for added in ("product", "edge_input", "heads"):
            for parameter in self.get_submodule(added).parameters() if hasattr(self, added) else ():
                nn.init.zeros_(parameter)
        self.config = config
        self.norm = nn.LayerNorm(inner)
        self.dropout = nn.Dropout(dropout)
        self.hidden = nn.Sequential(nn.Linear(inner, inner), nn.GELU(), nn.Dropout(dropout))
        self.label = nn.Linear(inner, len(self.labels))
        self.coarse = nn.Linear(inner, len(self.classes))
        self.nuclearity = nn.Linear(inner, len(NUCLEARITIES))
        class_of = torch.tensor([self.classes.index(pair) for pair in coarse], device="cpu")
        nuclearity_of = torch.tensor([NUCLEARITIES.index(nuclearity) for nuclearity, _ in self.labels], device="cpu")
        self.register_buffer("class_of", class_of, persistent=False)
        self.register_buffer("nuclearity_of", nuclearity_of, persistent=False)
        self.register_buffer("sizes", torch.tensor(SIZE_BUCKETS, device="cpu"), persistent=False)

    def forward(self, edus: LabelInputs, nodes: Tensor) -> list[Tensor]:
        """Return the logits `(nodes, labels)` of each pass; use those of the last.

        Args:
            edus: The EDUs.
            nodes: `(nodes, 3)` first, last and split.
        """
        states = edus.states
        totals = RunningSums(states)
        # Some nodes at a time: the input of each is six times as large as an EDU's state.
        most = max(PIECE, budget_of(nodes.device).edus)
        inner: Iterable[Tensor] = (self._inner(edus, totals, some) for some in torch.split(nodes, most))
        if not self.config.label_heads:
            return [torch.cat([self._logits(some) for some in inner])]
        inner = [*inner]
        first = torch.cat([self._logits(some) for some in inner])
        likely = self.get_buffer("nuclearity_of")[first.detach().argmax(dim=-1)]
        heads = to_device(child_heads(nodes.cpu().numpy(), likely.cpu().numpy()), nodes.device)
        pairs = (self.heads(self.dropout(states[some].flatten(1))) for some in torch.split(heads, most))
        return [first, torch.cat([self._logits(some + pair) for some, pair in zip(inner, pairs, strict=True)])]

    def ends(self, vectors: Tensor) -> Tensor:
        """Return `LabelInputs.edges` from vectors `(edus, 2, width)` of each EDU's first and last subword."""
        found: Tensor = self.edges(self.dropout(vectors))
        return found

    def _inner(self, edus: LabelInputs, totals: RunningSums, nodes: Tensor) -> Tensor:
        """Return the hidden states `(nodes, inner)` of some nodes."""
        states, openings, edges = edus.states, edus.openings, edus.edges
        first, last, split = nodes.T
        left_size, right_size = split - first + 1, last - split
        middle = totals[split + 1]
        left = ((middle - totals[first]) / left_size[:, None]).to(states.dtype)
        right = ((totals[last + 1] - middle) / right_size[:, None]).to(states.dtype)
        ends = [states[first], states[split], states[split + 1], states[last]]
        inner: Tensor = self.input(self.dropout(torch.cat([*ends, left, right], dim=-1)))
        inner = inner + self.left_size(self._bucket(left_size)) + self.right_size(self._bucket(right_size))
        inner = inner + self.left_opening(openings[first]) + self.right_opening(openings[split + 1])
        if self.config.label_rank:
            parts = ([ends[0], ends[1], left], [ends[2], ends[3], right])
            factors = zip(self.factors, parts, strict=True)
            one, other = (factor(self.dropout(torch.cat(part, dim=-1))) for factor, part in factors)
            inner = inner + self.product(one * other)
        if self.config.label_edges:
            assert edges is not None, "the network gives them to a scorer that reads them"
            outer = [edges[first, 0], edges[split, 1], edges[split + 1, 0], edges[last, 1]]
            inner = inner + self.edge_input(torch.cat(outer, dim=-1))
        return inner

    def _logits(self, inner: Tensor) -> Tensor:
        inner = self.dropout(torch.nn.functional.gelu(self.norm(inner)))
        inner = inner + self.hidden(inner)
        coarse = self.coarse(inner)[:, self.get_buffer("class_of")]
        nuclearity = self.nuclearity(inner)[:, self.get_buffer("nuclearity_of")]
        logits: Tensor = self.label(inner) + coarse + nuclearity
        return logits

    def _bucket(self, sizes: Tensor) -> Tensor:
        return torch.bucketize(sizes - 1, self.get_buffer("sizes"), right=True)


def child_heads(nodes: NDArray[np.int64], nuclearities: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return `(nodes, 2)`: the head EDU of each node's children, found by descending to the leftmost nucleus.

    Args:
        nodes: `(nodes, 3)` first, last and split, in any order. A child that is not among them has its first EDU as
            head.
        nuclearities: `(nodes,)` index of each node's nuclearity in `NUCLEARITIES`.
    """
    heads = np.zeros((len(nodes), 2), dtype=np.int64)
    known: dict[tuple[int, int], int] = {}
    satellite_first = NUCLEARITIES.index("SN")
    # Narrow nodes before those that contain them.
    for index in np.argsort(nodes[:, 1] - nodes[:, 0], kind="stable").tolist():
        first, last, split = nodes[index].tolist()
        pair = known.get((first, split), first), known.get((split + 1, last), split + 1)
        heads[index] = pair
        known[first, last] = pair[int(nuclearities[index] == satellite_first)]
    return heads


@dataclass(frozen=True)
class Labelling:
    """Labels of some nodes.

    Attributes:
        labels: `(nodes,)` indices into the scorer's labels.
        probabilities: `(nodes,)` probability of each label's nuclearity with its relation class.
    """

    labels: NDArray[np.int64]
    probabilities: NDArray[np.float64]


def choose(logits: Tensor, scorer: LabelScorer) -> Labelling:
    """Return the best label of each node, given logits `(nodes, labels)`.

    Choose the most probable nuclearity with relation class first, then the best relation in that class. So a class
    whose probability is split among several relations does not lose to a less probable class with a single one.
    """
    log_probabilities = torch.log_softmax(logits.detach().float(), dim=-1)
    class_of = scorer.get_buffer("class_of")
    probabilities = log_probabilities.new_zeros(len(logits), len(scorer.classes))
    probabilities = probabilities.index_add(1, class_of, log_probabilities.exp())
    chosen, best = probabilities.max(dim=-1)
    within = log_probabilities.masked_fill(class_of[None, :] != best[:, None], float("-inf"))
    labels = within.argmax(dim=-1)
    return Labelling(labels.cpu().numpy(), chosen.clamp(0.0, 1.0).double().cpu().numpy())
