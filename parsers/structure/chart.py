"""A globally normalised chart over all binary trees: CRF training, exact decoding.

The probability of a tree is proportional to the exponential of the sum of its nodes' split scores. The
inside pass gives the normaliser, the outside pass the probability of every span as a left and as a right
child; those are the normaliser's gradients, so training needs no automatic differentiation through
the chart. Decoding takes the tree with the largest expected number of correct spans (minimum Bayes risk, Goodman 1996).

Time is cubic, so documents of more than `LIMIT` EDUs are first cut at strong borders into sections. Each section is
decoded exactly, then the tree over the sections, again exactly. That keeps time and memory linear.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
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
from discsum.parsers.structure.scores import Array, Bracketing, Design, Expected, SplitScores, Target

LIMIT = 256


def loss(scores: SplitScores, targets: Sequence[Target]) -> Tensor:
    """Return the sum over documents of the loss of their trees.

    The loss of a document is the negative log-probability of all trees that contain its gold nodes. With all nodes of a
    tree, this is the CRF loss. With only some, as over predicted EDUs, which may lack gold spans, every tree that
    crosses none of the nodes counts as correct. If the target is a distribution over trees, the loss is the
    cross-entropy of the scores' distribution relative to it; both are log-linear, so only expected counts matter.

    Args:
        scores: The scores of the documents.
        targets: Gold nodes `(nodes, 3)` of each document, or a distribution over its trees; nothing is learned from a
            document without nodes.
    """
    total, sizes = scores.strength.new_zeros(()), np.diff(scores.bounds)
    for partial in (False, True):
        some = [
            document
            for document, (target, size) in enumerate(zip(targets, sizes, strict=True))
            if size > 1 and _is_partial(target, size) == partial and (isinstance(target, Expected) or len(target))
        ]
        for charts in _charts(scores, some):
            total = total + _loss_of(charts, [targets[document] for document in charts.documents], partial)
    return total


def _is_partial(target: Target, edus: int) -> bool:
    """Return whether a target has only some nodes of a tree."""
    return not isinstance(target, Expected) and len(target) < edus - 1


def _loss_of(charts: _Charts, targets: Sequence[Target], partial: bool) -> Tensor:
    """Return the sum of the losses of the charts' documents.

    Args:
        charts: Charts of some documents.
        targets: Their targets, as in `loss`.
        partial: Whether all targets are nodes of part of a tree; if not, none is.
    """
    left, lefts, rights, counts = charts.left, charts.lefts, charts.rights, charts.counts
    edus = lefts.shape[-1]
    free = posterior(lefts, rights, counts)
    if partial:
        forbidden = np.stack(
            [_padded(_crossing(nodes, count), edus) for nodes, count in zip(targets, counts, strict=True)]
        )
        held = posterior(lefts, rights, counts, _on(left.device, forbidden))
        wanted = Expected(held.left, held.right)
        values = free.log_normaliser - held.log_normaliser
    else:
        expected = [
            (target.left, target.right) if isinstance(target, Expected) else _indicators(target, count)
            for target, count in zip(targets, counts, strict=True)
        ]
        wanted = Expected(
            *(
                _on(left.device, np.stack([_padded(part, edus) for part in side]))
                for side in zip(*expected, strict=True)
            )
        )
        values = free.log_normaliser - (lefts * wanted.left).sum((1, 2)) - (rights * wanted.right).sum((1, 2))
    # The gradient of the loss is the difference of expected counts. The product of the scores with that difference has
    # this gradient; it is then shifted to the value of the loss.
    differences = free.left - wanted.left, free.right - wanted.right
    left_counts, right_counts = by_border(*(torch.as_tensor(difference) for difference in differences))
    surrogate = (left * left_counts.to(left)).sum() + (charts.right * right_counts.to(left)).sum()
    return surrogate - surrogate.detach() + torch.as_tensor(values).sum().to(surrogate)


def span_posteriors(scores: SplitScores) -> list[Posterior]:
    """Return the distribution over trees that scores define for each document, which has several EDUs and one chart.

    Its arrays are NumPy arrays without the chart axis.
    """
    found: dict[int, Posterior] = {}
    for charts in _charts(scores, range(len(scores.bounds) - 1)):
        view = posterior(charts.lefts, charts.rights, charts.counts)
        parts = (view.left, view.right, view.spans, view.log_normaliser)
        arrays = zip(*(torch.as_tensor(part).cpu().numpy() for part in parts), strict=True)
        for document, count, (*tables, log_normaliser) in zip(charts.documents, charts.counts, arrays, strict=True):
            left, right, spans = (table[:count, :count] for table in tables)
            found[document] = Posterior(left, right, log_normaliser, spans)
    return [found[document] for document in range(len(found))]


@dataclass(frozen=True)
class _Charts:
    """Charts of documents, each padded to the longest.

    Attributes:
        documents: The documents.
        counts: Number of EDUs of each.
        left: Scores of left children by border, with gradients; see `SplitScores.charts`.
        right: Scores of right children.
        lefts: Scores of left children by width, detached and in float64; see `by_width`.
        rights: Scores of right children.
    """

    documents: list[int]
    counts: list[int]
    left: Tensor
    right: Tensor
    lefts: Array
    rights: Array


def _charts(scores: SplitScores, documents: Sequence[int]) -> Iterator[_Charts]:
    """Yield the charts of documents with several EDUs; those of similar length are batched."""
    bounds = scores.bounds
    sizes = np.diff(bounds)
    own = [int(sizes[document]) for document in documents]
    for group in padded_groups(own, budget_of(scores.strength.device).cells, power=2):
        some, counts = [documents[index] for index in group], [own[index] for index in group]
        # Padding repeats a document's last EDU.
        places = bounds[some][:, None] + np.minimum(np.arange(max(counts)), np.array(counts)[:, None] - 1)
        index = torch.from_numpy(places)
        left, right = scores.charts(index, index)
        lefts, rights = by_width(left.detach().double(), right.detach().double())
        yield _Charts(some, counts, left, right, _array(lefts), _array(rights))


def _padded(table: NDArray[Any], size: int) -> NDArray[Any]:
    """Return a square table with rows and columns of zeros added."""
    return np.pad(table, (0, size - len(table)))


def _array(values: Tensor) -> Array:
    """Return values for the passes, which are faster with NumPy on a CPU."""
    return values.numpy() if values.device.type == "cpu" else values


def _on(device: torch.device, values: NDArray[Any]) -> Array:
    """Return an array for the passes on a device."""
    return _array(to_device(values, device))


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


def _crossing(nodes: Target, edus: int) -> NDArray[np.bool_]:
    """Return `[i, w]`: whether `i..i+w` crosses one of the nodes or one of their children."""
    assert not isinstance(nodes, Expected), "a distribution has no nodes to cross"
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


DESIGN = Design(loss, decode, learns_distributions=True)
