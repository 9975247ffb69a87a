"""A globally normalised chart over all binary trees: CRF training, exact decoding.

The probability of a tree is proportional to the exponential of the sum of its nodes' split scores. The
inside pass gives the normaliser, the outside pass the probability of every span as a left and as a right
child; those are the normaliser's gradients, so training needs no automatic differentiation through
the chart. Decoding takes the tree with the largest expected number of correct spans (minimum Bayes risk, Goodman 1996).

Decoding treats sentences as constituents: each sentence is decoded exactly, then the tree over the sentences, again
exactly. On GUM dev, trees are as good as those of one chart over all EDUs. Time is cubic, so more than `LIMIT`
sentences, or EDUs of one sentence, are first cut at strong borders into sections. That keeps time and memory linear.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
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
# A chart counts for at least this many cells per leaf, because features of spans need several vectors per leaf.
LEAST = 64


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
    for group in padded_groups(own, budget_of(scores.strength.device).cells, _cells):
        some, counts = [documents[index] for index in group], [own[index] for index in group]
        # Padding repeats a document's last EDU.
        places = bounds[some][:, None] + np.minimum(np.arange(max(counts)), np.array(counts)[:, None] - 1)
        index = torch.from_numpy(places)
        left, right = scores.charts(index, index)
        lefts, rights = by_width(left.detach().double(), right.detach().double())
        yield _Charts(some, counts, left, right, _array(lefts), _array(rights))


def _cells(leaves: int) -> int:
    """Return the cells for which a chart counts in budgets."""
    return leaves * max(leaves, LEAST)


def _padded(table: NDArray[Any], size: int) -> NDArray[Any]:
    """Return a square table with rows and columns of zeros added."""
    return np.pad(table, (0, size - len(table)))


def _array(values: Tensor) -> Array:
    """Return values for the passes, which are faster with NumPy on a CPU."""
    return values.numpy() if values.device.type == "cpu" else values


def _on(device: torch.device, values: NDArray[Any]) -> Array:
    """Return an array for the passes on a device."""
    return _array(to_device(values, device))


def decode(scores: SplitScores) -> list[Bracketing]:
    """Return each document's tree with the largest expected number of correct spans, and each span's probability.

    Only trees in which every sentence of at most `LIMIT` EDUs is a constituent are considered; probabilities of spans
    inside a sentence are relative to the trees of the sentence. EDUs of nodes are counted from the document's first.
    """
    bounds = scores.bounds
    # First and last EDU of each block: blocks are EDUs, then sentences, then sections.
    firsts = lasts = np.arange(len(scores))
    # Blocks at which documents begin, and at which sections must begin.
    documents, begins = bounds, np.union1d(bounds, np.flatnonzero(scores.sentences))
    nodes, chances = [np.zeros((0, 3), dtype=np.int64)], [np.zeros(0)]
    while np.diff(documents).max() > 1:
        cuts = _sections(scores, lasts, begins)
        for found, chance in _decode_blocks(scores, firsts, lasts, cuts):
            nodes.append(found)
            chances.append(chance)
        firsts, lasts = firsts[cuts[:-1]], lasts[cuts[1:] - 1]
        documents = begins = np.searchsorted(cuts, documents)
    every, chance = np.concatenate(nodes), np.clip(np.concatenate(chances), 0.0, 1.0)
    # A document of n EDUs has n - 1 nodes.
    order, after = np.argsort(every[:, 0], kind="stable"), bounds[1:-1] - np.arange(1, len(bounds) - 1)
    return [
        Bracketing(every[own] - first, chance[own])
        for own, first in zip(np.split(order, after), bounds[:-1], strict=True)
    ]


def _decode_blocks(
    scores: SplitScores, firsts: NDArray[np.int64], lasts: NDArray[np.int64], cuts: NDArray[np.int64]
) -> Iterator[tuple[NDArray[np.int64], NDArray[np.float64]]]:
    """Yield the nodes of the best tree over each section's blocks, `(blocks - 1, 3)` EDUs, and their probabilities.

    Args:
        scores: The scores of EDUs.
        firsts: `(blocks,)` first EDU of each block.
        lasts: `(blocks,)` last EDU of each block.
        cuts: `(sections + 1,)` first block of each section, and the number of blocks.
    """
    sizes = np.diff(cuts)
    charts = np.flatnonzero(sizes > 1)
    for group in padded_groups(sizes[charts].tolist(), budget_of(scores.strength.device).cells, _cells):
        some = charts[group]
        counts = sizes[some]
        # (charts, blocks); padding repeats a chart's last block.
        blocks = cuts[some][:, None] + np.minimum(np.arange(counts.max()), counts[:, None] - 1)
        own_firsts, own_lasts = firsts[blocks], lasts[blocks]
        # float32 suffices for decoding, and its exponential is four times faster.
        of_charts = scores.charts(torch.from_numpy(own_firsts), torch.from_numpy(own_lasts))
        left, right = by_width(*(part.detach().float() for part in of_charts))
        if len(some) == 1:
            spans = posterior(_array(left[0]), _array(right[0])).spans
            tables = best_splits(spans)[None], spans[None]
        else:
            spans = posterior(_array(left), _array(right), counts.tolist()).spans
            tables = best_splits(spans), spans
        # One copy from a device for both.
        splits, probabilities = torch.stack([torch.as_tensor(table).float() for table in tables]).cpu().numpy()
        for row, count in enumerate(counts.tolist()):
            first, last, split = best_tree(splits[row].astype(np.int16), count).T
            places = own_firsts[row, first], own_lasts[row, last], own_lasts[row, split]
            yield np.stack(places, axis=1), probabilities[row, first, last - first].astype(np.float64)


def _sections(scores: SplitScores, lasts: NDArray[np.int64], begins: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the first block of each section of at most `LIMIT` blocks, and the number of blocks.

    Args:
        scores: The scores of EDUs.
        lasts: `(blocks,)` last EDU of each block.
        begins: Blocks at which sections must begin, and the number of blocks.
    """
    if np.diff(begins).max() <= LIMIT:
        return begins
    strength = scores.strength.detach().float().cpu().numpy()[lasts[:-1]]
    cuts = [0]
    for after in begins[1:].tolist():
        while after - cuts[-1] > LIMIT:
            # The strongest border in the second half of the longest possible section.
            low, high = cuts[-1] + LIMIT // 2, cuts[-1] + LIMIT
            cuts.append(low + 1 + int(strength[low:high].argmax()))
        cuts.append(after)
    return np.array(cuts)


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
