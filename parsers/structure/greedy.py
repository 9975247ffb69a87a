"""Greedy splitting: every span is split at its best border, regardless of other spans.

The design `top_down` scores a border of a span by the children it makes, with a softmax over the span's borders. The
design `distance` scores a border by its strength alone, so one sequence of numbers determines a document's tree, as
with the syntactic distances of Shen et al. 2018 (Straight to the Tree).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np
import torch
from torch import Tensor

from discsum.devices import to_device
from discsum.parsers.structure.scores import Bracketing, Design, Expected, SplitScores, Target, split_spans

# `(nodes, borders)` scores of a range of borders for spans given by their first and last EDUs `(nodes,)`.
BorderScores = Callable[[SplitScores, Tensor, Tensor, range], Tensor]


def _loss(scores: SplitScores, targets: Sequence[Target], border_scores: BorderScores) -> Tensor:
    """Return the negative log-probability of the gold splits of all documents, each among the borders of its span."""
    total = scores.strength.new_zeros(())
    for nodes, (start, after) in zip(targets, pairwise(scores.bounds.tolist()), strict=True):
        assert not isinstance(nodes, Expected), "recipes check that designs with teachers learn distributions"
        if not len(nodes):
            continue
        first, last, _ = torch.from_numpy(nodes + start).T
        borders = torch.arange(start, after - 1)
        outside = (borders < first[:, None]) | (borders >= last[:, None])
        values = border_scores(scores, first, last, range(start, after - 1))
        total = total + torch.nn.functional.cross_entropy(
            values.masked_fill(outside.to(values.device, non_blocking=True), float("-inf")),
            to_device(nodes[:, 2].copy(), values.device),
            reduction="sum",
        )
    return total


def _decode(first: int, after: int, values: Callable[[int, int], Tensor]) -> Bracketing:
    """Return the greedy tree of a document; the first of equal borders wins. Memory is linear in the EDUs.

    Args:
        first: The document's first EDU.
        after: The EDU after its last.
        values: Returns the scores `(last - first,)` of a span's borders, given its first and last EDU. Their softmax
            gives the probability of the split.
    """
    probabilities = []

    def best_border(start: int, end: int) -> int:
        scores = values(first + start, first + end).detach()
        best = int(scores.argmax())
        probabilities.append(float(torch.softmax(scores, dim=0)[best]))
        return start + best

    nodes = split_spans(after - first, best_border)
    return Bracketing(nodes, np.array(probabilities))


def _child_scores(scores: SplitScores, first: Tensor, last: Tensor, borders: range) -> Tensor:
    index = torch.arange(borders.start, borders.stop)
    return scores.left(first, index) + scores.right(index, last).T


def _decode_top_down(scores: SplitScores) -> list[Bracketing]:
    index = torch.arange(len(scores))
    # Every EDU and border is used many times, so compute their factors once.
    kept = replace(scores, edus=scores.edus[index], borders=scores.borders[index[:-1]])

    def values(first: int, last: int) -> Tensor:
        borders = index[first:last]
        left, right = kept.left(index[first : first + 1], borders), kept.right(borders, index[last : last + 1])
        return left[0] + right[:, 0]

    return [_decode(first, after, values) for first, after in pairwise(scores.bounds.tolist())]


def _decode_distance(scores: SplitScores) -> list[Bracketing]:
    # One copy from the device for all borders.
    strength = scores.strength.detach().cpu()
    return [
        _decode(first, after, lambda first, last: strength[first:last])
        for first, after in pairwise(scores.bounds.tolist())
    ]


TOP_DOWN = Design(lambda scores, targets: _loss(scores, targets, _child_scores), _decode_top_down)
DISTANCE = Design(
    lambda scores, targets: _loss(
        scores,
        targets,
        lambda scores, first, _, borders: scores.strength[borders.start : borders.stop].expand(len(first), -1),
    ),
    _decode_distance,
)
