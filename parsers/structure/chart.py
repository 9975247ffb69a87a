"""A globally normalised chart over all binary trees: CRF training, exact decoding.

The probability of a tree is proportional to the exponential of the sum of its nodes' split scores. The
inside pass gives the normaliser, the outside pass the probability of every span as a left and as a right
child; those are the normaliser's gradients, so training needs no automatic differentiation through
the chart. Decoding takes the tree of the largest expected number of right spans (minimum Bayes risk, Goodman 1996).

Cost is cubic, so documents beyond `LIMIT` EDUs are first cut at strong borders into sections; each
section is decoded exactly, then the sections are, as units, again exactly. That keeps cost and memory linear.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from discsum.parsers.structure.scores import Bracketing, Design, Expected, Matrix, SplitScores

LIMIT = 256


@dataclass(frozen=True)
class Posterior(Expected):
    """What the chart knows of all trees over `units`, beside what they are expected to hold.

    Attributes:
        log_normaliser: Log of the sum over trees.
        spans: `(units, units)`, `[i, w]`: probability that `i..i+w` is a constituent.
    """

    log_normaliser: float
    spans: Matrix


def by_width(left: Matrix, right: Matrix) -> tuple[Matrix, Matrix]:
    """Return score matrices indexed by width instead of border.

    Args:
        left: `(units, units - 1)`, `[i, k]`: score of `i..k` as a left child.
        right: `(units - 1, units)`, `[k, j]`: score of `k+1..j` as a right child.

    Returns:
        `(units, units)` twice: `[i, w]` for `i..i+w` as a left child, `[j, w]` for `j-w..j` as a right one; 0 outside.
    """
    units = len(left)
    index = np.arange(units)
    border = index[:, None] + index[None, :]
    lefts = np.where(border < units - 1, np.take_along_axis(left, np.minimum(border, units - 2), axis=1), 0.0)
    border = index[:, None] - index[None, :] - 1
    rights = np.where(border >= 0, np.take_along_axis(right.T, np.maximum(border, 0), axis=1), 0.0)
    return lefts, rights


def posterior(lefts: Matrix, rights: Matrix, forbidden: NDArray[np.bool_] | None = None) -> Posterior:
    """Return the span probabilities under the scores that `by_width` gives.

    `forbidden[i, w]` excludes `i..i+w` as a constituent.
    """
    units = len(lefts)
    as_left, as_right = lefts.copy(), rights.copy()
    total = 0.0
    for width in range(1, units):
        terms = as_left[: units - width, :width] + as_right[width:, :width][:, ::-1]
        top = terms.max(axis=1)
        inside = top + np.log(np.exp(terms - top[:, None]).sum(axis=1))
        if forbidden is not None:
            inside = np.where(forbidden[: units - width, width], -1e9, inside)
        as_left[: units - width, width] += inside
        as_right[width:, width] += inside
        total = float(inside[0])
    left, right, spans = np.zeros_like(lefts), np.zeros_like(rights), np.zeros_like(lefts)
    spans[:, 0] = 1.0
    spans[0, units - 1] = 1.0
    for width in range(units - 1, 0, -1):
        if width < units - 1:
            spans[: units - width, width] = left[: units - width, width] + right[width:, width]
        terms = as_left[: units - width, :width] + as_right[width:, :width][:, ::-1]
        terms = np.exp(terms - terms.max(axis=1)[:, None])
        terms *= (spans[: units - width, width] / terms.sum(axis=1))[:, None]
        left[: units - width, :width] += terms
        right[width:, :width] += terms[:, ::-1]
    return Posterior(left, right, total, spans)


def best_tree(spans: Matrix) -> NDArray[np.int64]:
    """Return `(units - 1, 3)` nodes of the tree with the largest sum of `spans[i, w]` over its spans `i..i+w`."""
    units = len(spans)
    ending = np.zeros_like(spans)
    for width in range(units):
        ending[width:, width] = spans[: units - width, width]
    as_left, as_right = spans.copy(), ending
    splits = np.zeros((units, units), dtype=np.int64)
    for width in range(1, units):
        terms = as_left[: units - width, :width] + as_right[width:, :width][:, ::-1]
        choice = terms.argmax(axis=1)
        value = np.take_along_axis(terms, choice[:, None], axis=1)[:, 0]
        splits[: units - width, width] = choice
        as_left[: units - width, width] += value
        as_right[width:, width] += value
    nodes, open_spans = [], [(0, units - 1)] if units > 1 else []
    while open_spans:
        first, last = open_spans.pop()
        split = first + int(splits[first, last - first])
        nodes.append((first, last, split))
        if split + 1 < last:
            open_spans.append((split + 1, last))
        if first < split:
            open_spans.append((first, split))
    return np.array(nodes, dtype=np.int64).reshape(-1, 3)


def loss(scores: SplitScores, nodes: NDArray[np.int64]) -> Tensor:
    """Return the negative log-probability of the gold nodes a node, summed over all trees that hold them.

    With all nodes of a tree that is the CRF loss; with some, as when predicted EDUs do not have all
    gold spans, every tree that crosses none of them counts as right.
    """
    left, right, lefts, rights = _score_matrices(scores)
    edus = len(lefts)
    free = posterior(lefts, rights)
    if len(nodes) == edus - 1:
        gold_left, gold_right = _indicators(nodes, edus)
        value = free.log_normaliser - float((lefts * gold_left).sum() + (rights * gold_right).sum())
    else:
        held = posterior(lefts, rights, _crossing(nodes, edus))
        gold_left, gold_right = held.left, held.right
        value = free.log_normaliser - held.log_normaliser
    return _with_gradient(value, left, right, free.left - gold_left, free.right - gold_right) / max(1, len(nodes))


def soft_loss(scores: SplitScores, wanted: Expected) -> Tensor:
    """Return the cross-entropy of a distribution over trees and these scores' own, a node.

    These scores' own is log-linear, so of the other one only the expected counts matter.
    """
    left, right, lefts, rights = _score_matrices(scores)
    free = posterior(lefts, rights)
    value = free.log_normaliser - float((lefts * wanted.left).sum() + (rights * wanted.right).sum())
    loss = _with_gradient(value, left, right, free.left - wanted.left, free.right - wanted.right)
    return loss / max(1, len(lefts) - 1)


def posterior_of(scores: SplitScores) -> Posterior:
    """Return the span probabilities under some scores. Memory is quadratic in the EDUs."""
    _, _, lefts, rights = _score_matrices(scores)
    return posterior(lefts, rights)


def _score_matrices(scores: SplitScores) -> tuple[Tensor, Tensor, Matrix, Matrix]:
    """Return the scores by border, which carry gradients, and by width, which do not."""
    index = torch.arange(len(scores.starts), device=scores.strength.device)
    left, right = scores.left(index, index[:-1]), scores.right(index[:-1], index)
    return left, right, *by_width(_matrix(left), _matrix(right))


def _with_gradient(value: float, left: Tensor, right: Tensor, left_counts: Matrix, right_counts: Matrix) -> Tensor:
    # The gradient of the loss is the difference of the expected counts, so the loss is written as
    # a product with that difference, shifted to the loss's own value.
    by_border = _by_border(left_counts, right_counts)
    surrogate = (left * left.new_tensor(by_border[0])).sum() + (right * right.new_tensor(by_border[1])).sum()
    return surrogate - surrogate.detach() + value


def decode(scores: SplitScores) -> Bracketing:
    """Return the tree of the largest expected number of right spans, with each span's probability."""
    edus = len(scores.starts)
    firsts, lasts = np.arange(edus), np.arange(edus)
    nodes: list[NDArray[np.int64]] = []
    probabilities: list[NDArray[np.float64]] = []
    strength = scores.strength.detach().float().cpu().numpy()
    while len(firsts) > 1:
        cuts = _sections(lasts, strength)
        for start, end in pairwise(cuts):
            if end - start > 1:
                found, confidence = _decode_units(scores, firsts[start:end], lasts[start:end])
                nodes.append(found)
                probabilities.append(confidence)
        firsts, lasts = firsts[cuts[:-1]], lasts[np.array(cuts[1:]) - 1]
    if not nodes:
        return Bracketing(np.zeros((0, 3), dtype=np.int64), np.zeros(0))
    return Bracketing(np.concatenate(nodes), np.clip(np.concatenate(probabilities), 0.0, 1.0))


def _decode_units(
    scores: SplitScores, firsts: NDArray[np.int64], lasts: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    first, last = torch.from_numpy(firsts), torch.from_numpy(lasts)
    first, last = first.to(scores.strength.device), last.to(scores.strength.device)
    left, right = scores.left(first, last[:-1]), scores.right(last[:-1], last)
    # Single precision is enough to choose by, and its exponential takes a quarter of the time.
    lefts, rights = by_width(_matrix(left).astype(np.float32), _matrix(right).astype(np.float32))
    spans = posterior(lefts, rights).spans
    nodes = best_tree(spans)
    confidence = spans[nodes[:, 0], nodes[:, 1] - nodes[:, 0]].astype(np.float64)
    return np.stack([firsts[nodes[:, 0]], lasts[nodes[:, 1]], lasts[nodes[:, 2]]], axis=1), confidence


def _sections(lasts: NDArray[np.int64], strength: NDArray[np.float32]) -> list[int]:
    """Return the unit indices at which sections of at most `LIMIT` units begin, and the number of units."""
    cuts = [0]
    while len(lasts) - cuts[-1] > LIMIT:
        # The strongest border in the second half of what may still belong to this section.
        low, high = cuts[-1] + LIMIT // 2, cuts[-1] + LIMIT
        cuts.append(low + 1 + int(strength[lasts[low:high]].argmax()))
    return [*cuts, len(lasts)]


def _matrix(scores: Tensor) -> Matrix:
    return scores.detach().double().cpu().numpy()


def _indicators(nodes: NDArray[np.int64], edus: int) -> tuple[Matrix, Matrix]:
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


def _by_border(left: Matrix, right: Matrix) -> tuple[Matrix, Matrix]:
    """Undo `by_width`."""
    edus = len(left)
    index = np.arange(edus)
    width = index[None, :-1] - index[:, None]
    lefts = np.where(width >= 0, np.take_along_axis(left, np.maximum(width, 0), axis=1), 0.0)
    width = index[None, :] - index[:-1, None] - 1
    rights = np.where(width >= 0, np.take_along_axis(right.T, np.maximum(width, 0), axis=0), 0.0)
    return lefts, rights


DESIGN = Design(loss, decode, soft_loss)
