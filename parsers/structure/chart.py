"""A globally normalised chart over all binary trees: CRF training, exact decoding.

The probability of a tree is proportional to the exponential of the sum of its nodes' split scores. The
inside pass gives the normaliser, the outside pass the probability of every span as a left and as a right
child; those are the normaliser's gradients, so training needs no automatic differentiation through
the chart. Decoding takes the tree with the largest expected number of correct spans (minimum Bayes risk, Goodman 1996).

Time is cubic, so documents of more than `LIMIT` EDUs are first cut at strong borders into sections. Each section is
decoded exactly, then the tree over the sections, again exactly. That keeps time and memory linear.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from discsum.devices import to_device
from discsum.parsers.budgets import budget_of, padded_groups
from discsum.parsers.structure.inside_outside import Posterior, best_splits, best_tree, by_border, by_width, posterior
from discsum.parsers.structure.scores import Array, Bracketing, Design, Expected, SplitScores

LIMIT = 256


def loss(scores: SplitScores, nodes: NDArray[np.int64]) -> Tensor:
    """Return the negative log-probability, per node, of all trees that contain the gold nodes.

    With all nodes of a tree, this is the CRF loss. With only some, as over predicted EDUs, which may lack gold spans,
    every tree that crosses none of the nodes counts as correct.
    """
    left, right, lefts, rights = _score_matrices(scores)
    edus, device = len(scores), left.device
    free = posterior(lefts, rights)
    if len(nodes) == edus - 1:
        gold = Expected(*(_on(device, counts) for counts in _indicators(nodes, edus)))
        value = free.log_normaliser - (lefts * gold.left).sum() - (rights * gold.right).sum()
    else:
        held = posterior(lefts, rights, forbidden=_on(device, _crossing(nodes, edus)))
        gold, value = held, free.log_normaliser - held.log_normaliser
    return _with_gradient(value, left, right, free, gold) / max(1, len(nodes))


def soft_loss(scores: SplitScores, wanted: Expected) -> Tensor:
    """Return the cross-entropy, per node, of the scores' distribution over trees relative to a target distribution.

    The scores' distribution is log-linear, so only the expected counts of the target matter.
    """
    left, right, lefts, rights = _score_matrices(scores)
    free, wanted = posterior(lefts, rights), Expected(_on(left.device, wanted.left), _on(left.device, wanted.right))
    value = free.log_normaliser - (lefts * wanted.left).sum() - (rights * wanted.right).sum()
    return _with_gradient(value, left, right, free, wanted) / max(1, len(scores) - 1)


def span_posterior(scores: SplitScores) -> Posterior:
    """Return the distribution over trees that scores of a document define, with the whole document in one chart.

    Its arrays are NumPy arrays without the chart axis.
    """
    _, _, lefts, rights = _score_matrices(scores)
    found = posterior(lefts, rights)
    parts = (found.left, found.right, found.log_normaliser, found.spans)
    return Posterior(*(torch.as_tensor(part)[0].cpu().numpy() for part in parts))


def _score_matrices(scores: SplitScores) -> tuple[Tensor, Tensor, Array, Array]:
    """Return the scores by border, with gradients, and by width, detached and in float64."""
    index = torch.arange(len(scores))[None]
    left, right = scores.charts(index, index)
    lefts, rights = by_width(left.detach().double(), right.detach().double())
    return left, right, _array(lefts), _array(rights)


def _array(values: Tensor) -> Array:
    """Return values for the passes, which are faster with NumPy on a CPU."""
    return values.numpy() if values.device.type == "cpu" else values


def _on(device: torch.device, values: NDArray[Any]) -> Array:
    """Return an array of one document for the passes on a device, with a chart axis."""
    return _array(to_device(values[None], device))


def _with_gradient(value: Array, left: Tensor, right: Tensor, found: Expected, wanted: Expected) -> Tensor:
    # The gradient of the loss is the difference of expected counts. The product of the scores with that difference has
    # this gradient; it is then shifted to the value of the loss.
    differences = found.left - wanted.left, found.right - wanted.right
    lefts, rights = by_border(*(torch.as_tensor(counts) for counts in differences))
    surrogate = (left * lefts.to(left)).sum() + (right * rights.to(right)).sum()
    return surrogate - surrogate.detach() + torch.as_tensor(value)[0].to(surrogate)


@dataclass(frozen=True)
class _Blocks:
    """Adjacent blocks of a document's EDUs, which are the leaves of a chart."""

    document: int
    firsts: NDArray[np.int64]
    lasts: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.firsts)

    def part(self, start: int, end: int) -> _Blocks:
        return _Blocks(self.document, self.firsts[start:end], self.lasts[start:end])


def decode(scores: SplitScores) -> list[Bracketing]:
    """Return each document's tree with the largest expected number of correct spans, and each span's probability.

    The EDUs of nodes are counted from the document's first.
    """
    bounds = scores.bounds
    open_parts = [
        _Blocks(document, np.arange(first, after), np.arange(first, after))
        for document, (first, after) in enumerate(pairwise(bounds.tolist()))
    ]
    nodes: list[list[NDArray[np.int64]]] = [[np.zeros((0, 3), dtype=np.int64)] for _ in open_parts]
    chances: list[list[NDArray[np.float64]]] = [[np.zeros(0)] for _ in open_parts]
    strength = np.zeros(0, dtype=np.float32)
    if max(map(len, open_parts)) > LIMIT:
        strength = scores.strength.detach().float().cpu().numpy()
    while open_parts := [part for part in open_parts if len(part) > 1]:
        cuts = [_sections(part.lasts, strength) for part in open_parts]
        sections = [part.part(*ends) for part, own in zip(open_parts, cuts, strict=True) for ends in pairwise(own)]
        for section, found, chance in _decode_blocks(scores, [section for section in sections if len(section) > 1]):
            nodes[section.document].append(found - bounds[section.document])
            chances[section.document].append(chance)
        open_parts = [
            _Blocks(part.document, part.firsts[own[:-1]], part.lasts[np.array(own[1:]) - 1])
            for part, own in zip(open_parts, cuts, strict=True)
        ]
    return [
        Bracketing(np.concatenate(found), np.clip(np.concatenate(chance), 0.0, 1.0))
        for found, chance in zip(nodes, chances, strict=True)
    ]


def _decode_blocks(
    scores: SplitScores, charts: list[_Blocks]
) -> Iterator[tuple[_Blocks, NDArray[np.int64], NDArray[np.float64]]]:
    """Yield each chart with the nodes of its best tree, `(blocks - 1, 3)` EDUs, and their probabilities."""
    sizes = [len(chart) for chart in charts]
    for group in padded_groups(sizes, budget_of(scores.strength.device).cells, power=2):
        some = [charts[index] for index in group]
        longest = max(map(len, some))
        # Padding repeats a chart's last block.
        padded = [np.pad(np.stack([own.firsts, own.lasts]), ((0, 0), (0, longest - len(own))), "edge") for own in some]
        # (charts, blocks)
        firsts, lasts = torch.from_numpy(np.stack(padded, axis=1))
        # float32 suffices for decoding, and its exponential is four times faster.
        left, right = by_width(*(part.detach().float() for part in scores.charts(firsts, lasts)))
        if len(some) == 1:
            spans = posterior(_array(left[0]), _array(right[0])).spans
            tables = best_splits(spans)[None], spans[None]
        else:
            spans = posterior(_array(left), _array(right), [len(blocks) for blocks in some]).spans
            tables = best_splits(spans), spans
        found = (torch.as_tensor(table).cpu().numpy() for table in tables)
        for blocks, table, probability in zip(some, *found, strict=True):
            nodes = best_tree(table, len(blocks))
            first, last, split = nodes.T
            places = np.stack([blocks.firsts[first], blocks.lasts[last], blocks.lasts[split]], axis=1)
            yield blocks, places, probability[first, last - first].astype(np.float64)


def _sections(lasts: NDArray[np.int64], strength: NDArray[np.float32]) -> list[int]:
    """Return the indices at which sections of at most `LIMIT` blocks begin, and the number of blocks."""
    cuts = [0]
    while len(lasts) - cuts[-1] > LIMIT:
        # The strongest border in the second half of the longest possible section.
        low, high = cuts[-1] + LIMIT // 2, cuts[-1] + LIMIT
        cuts.append(low + 1 + int(strength[lasts[low:high]].argmax()))
    return [*cuts, len(lasts)]


def _indicators(nodes: NDArray[np.int64], edus: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return `Expected.left` and `Expected.right` of the tree with these nodes, without the chart axis."""
    left, right = np.zeros((edus, edus)), np.zeros((edus, edus))
    first, last, split = nodes.T
    left[first, split - first] = 1.0
    right[last, last - split - 1] = 1.0
    return left, right


def _crossing(nodes: NDArray[np.int64], edus: int) -> NDArray[np.bool_]:
    """Return `[i, w]`: whether `i..i+w` crosses one of the nodes or one of their children."""
    spans = np.concatenate(
        [nodes[:, [0, 1]], nodes[:, [0, 2]], np.stack([nodes[:, 2] + 1, nodes[:, 1]], axis=1)], axis=0
    )
    start = np.arange(edus)[:, None]
    end = start + np.arange(edus)[None, :]
    crossing = np.zeros((edus, edus), dtype=bool)
    for first, last in spans[spans[:, 0] < spans[:, 1]]:
        crossing |= (start < first) & (end >= first) & (end < last)
        crossing |= (start > first) & (start <= last) & (end > last)
    return crossing


DESIGN = Design(loss, decode, soft_loss)
