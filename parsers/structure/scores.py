"""Scores of splits: how well EDU `k` ends the left child of a span that runs from EDU `i` to EDU `j`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from discsum.parsers.edu_vectors import EDULayout
from discsum.parsers.running_sums import RunningSums
from discsum.parsers.structure.cohesion import Cohesion, CohesionScorer

# A NumPy array or a tensor.
Array = Any
SIZE_BUCKETS = (1, 2, 3, 4, 6, 8, 12, 20, 40, 80)
# Factors of at most this many EDUs are kept, 60 MiB; those of longer documents are computed on request.
FEW = 16384
# EDUs whose factors are computed together for sums over longer documents.
PIECE = 4096


class Rows(Protocol):
    """A matrix of which some rows are requested at a time."""

    def __getitem__(self, index: Tensor) -> Tensor:
        """Return the rows `(index, width)`."""


@dataclass(frozen=True)
class SplitScores:
    """The factors of `score(i, k, j) = left(i, k) + right(k, j)`, each linear in the number of EDUs.

    `left(i, k)` scores the EDUs `i..k` as a left child and includes the strength of the border after `k`;
    `right(k, j)` scores `k+1..j` as a right child. Matrices are built for the requested EDUs only. Methods take indices
    as tensors on the CPU, to avoid waiting for a GPU.

    Attributes:
        edus: `(edus, 3 * rank)` each EDU as the first of a left child, and as the last of a right child; its topics.
        borders: `(edus - 1, 4 * rank + 1)` the border after each EDU as the end of a left child, and as the start of a
            right child; its weights for the mean topic of a left child, and of a right child; its strength apart from
            layout.
        strength: `(edus - 1,)` score of each border, independent of the span.
        left_sizes: `(buckets + 1,)` score of left children by size.
        right_sizes: `(buckets + 1,)` score of right children by size.
        totals: `(edus + 1, rank)` running sums of the EDUs' topic vectors; a span's mean is a difference of two.
        sentences: `(edus,)` whether each EDU begins a sentence.
        cohesion: Scores of spans by their words and layout, if the network has them.
        counts: Number of EDUs of each document, if the EDUs are those of several documents, concatenated.
    """

    edus: Rows
    borders: Rows
    strength: Tensor
    left_sizes: Tensor
    right_sizes: Tensor
    totals: Rows
    sentences: NDArray[np.bool_]
    cohesion: Cohesion | None = None
    counts: tuple[int, ...] = ()

    def __len__(self) -> int:
        """Return the number of EDUs."""
        return len(self.strength) + 1

    @property
    def bounds(self) -> NDArray[np.int64]:
        """`(documents + 1,)`: the first EDU of each document, and the number of EDUs."""
        return np.cumsum([0, *(self.counts or [len(self)])])

    def left(self, firsts: Tensor, borders: Tensor) -> Tensor:
        """Return `(firsts, borders)`: scores of left children from each first EDU to each border."""
        scores = self._left(firsts, borders, self.edus[firsts], self.borders[borders])
        return scores if self.cohesion is None else scores + self.cohesion.left(firsts, borders)

    def right(self, borders: Tensor, lasts: Tensor) -> Tensor:
        """Return `(borders, lasts)`: scores of right children from after each border to each last EDU."""
        scores = self._right(borders, lasts, self.borders[borders], self.edus[lasts])
        return scores if self.cohesion is None else scores + self.cohesion.right(borders + 1, lasts)

    def charts(self, firsts: Tensor, lasts: Tensor) -> tuple[Tensor, Tensor]:
        """Return the scores of all children that adjacent blocks of EDUs can form, of several charts.

        Args:
            firsts: `(charts, blocks)` first EDU of each block; a chart is in one document.
            lasts: `(charts, blocks)` last EDU of each block.

        Returns:
            `(charts, blocks, blocks - 1)`: left children by first block and border; `(charts, blocks - 1, blocks)`:
            right children by border and last block.
        """
        # Shorter charts repeat their last block. It may end at the very last EDU, which has no border after it.
        borders = lasts[:, :-1].clamp_max(len(self) - 2)
        of_firsts, of_borders = self.edus[firsts], self.borders[borders]
        of_lasts = of_firsts if torch.equal(firsts, lasts) else self.edus[lasts]
        left = self._left(firsts, borders, of_firsts, of_borders)
        right = self._right(borders, lasts, of_borders, of_lasts)
        if self.cohesion is None or not borders.numel():
            return left, right
        left_cohesion, right_cohesion = self.cohesion.both(firsts, lasts)
        return left + left_cohesion[..., :-1], right + right_cohesion[:, 1:]

    def _left(self, firsts: Tensor, borders: Tensor, of_firsts: Tensor, of_borders: Tensor) -> Tensor:
        ends, _, topics, _ = of_borders[..., :-1].chunk(4, dim=-1)
        firsts, borders = (part.to(ends.device, non_blocking=True) for part in (firsts, borders))
        before = borders[..., None, :] - firsts[..., :, None]
        scores = of_firsts.chunk(3, dim=-1)[0] @ ends.mT + self.strength[borders][..., None, :]
        topics = topics.double()
        whole = (self.totals[borders + 1] * topics).sum(dim=-1)[..., None, :] - self.totals[firsts] @ topics.mT
        means = (whole / (before + 1).clamp_min(1)).to(scores.dtype)
        return scores + self._by_size[0][before.clamp_min(0)] + means

    def _right(self, borders: Tensor, lasts: Tensor, of_borders: Tensor, of_lasts: Tensor) -> Tensor:
        _, starts, _, topics = of_borders[..., :-1].chunk(4, dim=-1)
        borders, lasts = (part.to(starts.device, non_blocking=True) for part in (borders, lasts))
        after = lasts[..., None, :] - borders[..., :, None] - 1
        scores = starts @ of_lasts.chunk(3, dim=-1)[1].mT
        topics = topics.double()
        whole = topics @ self.totals[lasts + 1].mT - (self.totals[borders + 1] * topics).sum(dim=-1)[..., :, None]
        means = (whole / (after + 1).clamp_min(1)).to(scores.dtype)
        return scores + self._by_size[1][after.clamp_min(0)] + means

    @cached_property
    def _by_size(self) -> tuple[Tensor, Tensor]:
        """`(edus,)` twice: scores of left and right children by size minus one; a table is faster than bucketing."""
        limits = torch.tensor(SIZE_BUCKETS).to(self.strength.device, non_blocking=True)
        buckets = torch.bucketize(torch.arange(len(self), device=limits.device), limits, right=True)
        return self.left_sizes[buckets], self.right_sizes[buckets]


class SplitScorer(nn.Module):
    """Computes `SplitScores` from EDU states and, with `cohesion`, from the EDUs' words."""

    def __init__(self, hidden: int, rank: int = 128, dropout: float = 0.2, cohesion: int = 0) -> None:
        """Build a scorer of EDU states of size `hidden`; `cohesion` is the inner size for words and layout, or 0."""
        super().__init__()
        self.rank = rank
        self.outer = nn.Sequential(
            nn.Linear(hidden, hidden), nn.GELU(), nn.Dropout(dropout), nn.Linear(hidden, 3 * rank)
        )
        self.border = nn.Sequential(
            nn.Linear(2 * hidden, hidden), nn.GELU(), nn.Dropout(dropout), nn.Linear(hidden, 4 * rank + 1)
        )
        self.opening = nn.Embedding(4, 1)
        self.left_sizes = nn.Parameter(torch.zeros(len(SIZE_BUCKETS) + 1))
        self.right_sizes = nn.Parameter(torch.zeros(len(SIZE_BUCKETS) + 1))
        self.cohesion = CohesionScorer(cohesion) if cohesion else None

    def forward(self, states: Tensor, layout: EDULayout, counts: Sequence[int] = ()) -> SplitScores:
        """Return the scores of EDU states `(edus, hidden)`; `counts` are the EDUs per document if there are several."""
        edus = _Computed(lambda some: self._edu_factors(states[some]), len(states), states.device)
        borders = _Computed(lambda some: self._border_factors(states, some), len(states) - 1, states.device)
        topics, strength = edus.last_columns(self.rank), borders.last_columns(1)
        openings, closings = (part.to(states.device, non_blocking=True) for part in (layout.openings, layout.closings))
        strength = strength + self.opening(openings[1:])
        cohesion = None
        if self.cohesion is not None:
            assert layout.bags is not None, "ParserNetwork.layout computes bags for networks with cohesion"
            bags = layout.bags.to(states.device, non_blocking=True)
            cohesion = self.cohesion(bags, openings, closings, counts or [len(states)])
        sizes, totals = (self.left_sizes, self.right_sizes), RunningSums(topics, self.rank**-0.5)
        sentences = layout.openings.numpy() > 0
        return SplitScores(edus, borders, strength.squeeze(-1), *sizes, totals, sentences, cohesion, tuple(counts))

    def _edu_factors(self, states: Tensor) -> Tensor:
        outermost, topics = self.outer(states).split([2 * self.rank, self.rank], dim=-1)
        return torch.cat([outermost * self.rank**-0.5, topics], dim=-1)

    def _border_factors(self, states: Tensor, borders: Tensor) -> Tensor:
        factors: Tensor = self.border(torch.cat([states[borders], states[borders + 1]], dim=-1))
        return factors


class _Computed:
    """Rows `(rows, width)` that are computed once if there are few, and on each request if there are many."""

    def __init__(self, compute: Callable[[Tensor], Tensor], rows: int, device: torch.device) -> None:
        self._compute, self._rows, self._device = compute, rows, device
        # In training, dropout must not change between requests.
        kept = rows <= FEW or torch.is_grad_enabled()
        self._few = compute(torch.arange(rows, device=device)) if kept else None

    def __getitem__(self, index: Tensor) -> Tensor:
        index = index.to(self._device, non_blocking=True)
        return self._compute(index) if self._few is None else self._few[index]

    def last_columns(self, width: int) -> Tensor:
        """Return the last columns `(rows, width)` of all rows."""
        if self._few is not None:
            return self._few[:, -width:]
        # Filled some rows at a time: small copies between large temporary tensors would keep the heap from shrinking.
        first, *others = torch.split(torch.arange(self._rows, device=self._device), PIECE)
        piece = self._compute(first)[:, -width:]
        found, filled = piece.new_empty(self._rows, width), len(piece)
        found[:filled] = piece
        for index in others:
            found[filled : filled + len(index)] = self._compute(index)[:, -width:]
            filled += len(index)
        return found


@dataclass(frozen=True)
class Bracketing:
    """The internal nodes of a binary tree over EDUs, in no particular order.

    Attributes:
        nodes: `(edus - 1, 3)` first, last and split of each node.
        probabilities: `(edus - 1,)` confidence in each.
    """

    nodes: NDArray[np.int64]
    probabilities: NDArray[np.float64]


def split_spans(leaves: int, choose: Callable[[int, int], int]) -> NDArray[np.int64]:
    """Return `(leaves - 1, 3)` nodes of the tree that splits each span at `choose(first, last)`, in pre-order."""
    nodes, open_spans = [], [(0, leaves - 1)] if leaves > 1 else []
    while open_spans:
        first, last = open_spans.pop()
        split = choose(first, last)
        nodes.append((first, last, split))
        if split + 1 < last:
            open_spans.append((split + 1, last))
        if first < split:
            open_spans.append((first, split))
    return np.array(nodes, dtype=np.int64).reshape(-1, 3)


def joined_nodes(nodes: Sequence[NDArray[np.int64]], counts: Sequence[int]) -> NDArray[np.int64]:
    """Return the nodes of several documents, whose EDUs are numbered consecutively; `counts` are their EDUs."""
    firsts = np.cumsum([0, *counts[:-1]])
    return np.concatenate([own + first for own, first in zip(nodes, firsts, strict=True)])


@dataclass(frozen=True)
class Expected:
    """A distribution over trees, given by the probability of every span as a left and as a right child.

    Attributes:
        left: `(edus, edus)`, `[i, w]`: probability that `i..i+w` is a left child; several charts add a leading axis.
        right: `(edus, edus)`, `[j, w]`: probability that `j-w..j` is a right child.
    """

    left: Array
    right: Array


# What is learned of a document: gold nodes `(nodes, 3)`, which may be part of a tree; or a distribution over its trees.
Target = NDArray[np.int64] | Expected


@dataclass(frozen=True)
class Design:
    """How split scores are trained and decoded.

    Attributes:
        loss: Returns the sum of the documents' losses, given their scores and a target for each.
        decode: Returns the tree of each document, given their scores.
        learns_distributions: Whether targets may be distributions over trees.
    """

    loss: Callable[[SplitScores, Sequence[Target]], Tensor]
    decode: Callable[[SplitScores], list[Bracketing]]
    learns_distributions: bool = False
