"""A globally normalised chart over all binary trees: CRF training, exact decoding.

The probability of a tree is proportional to the exponential of the sum of its nodes' split scores. The
inside pass gives the normaliser, the outside pass the probability of every span as a left and as a right
child; those are the normaliser's gradients, so training needs no automatic differentiation through
the chart. Decoding takes the tree of the largest expected number of right spans (minimum Bayes risk, Goodman 1996).

Time is cubic, so documents of more than `LIMIT` EDUs are first cut at strong borders into sections. Each section is
decoded exactly, then the tree over the sections, again exactly. That keeps time and memory linear.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from discsum.parsers.structure.inside_outside import Posterior, best_tree, by_border, by_width, posterior
from discsum.parsers.structure.scores import Bracketing, Design, Expected, Matrix, SplitScores

LIMIT = 256


def loss(scores: SplitScores, nodes: NDArray[np.int64]) -> Tensor:
    """Return the negative log-probability, per node, of all trees that contain the gold nodes.

    With all nodes of a tree that is the CRF loss; with some, as over predicted EDUs, which may lack gold spans, every
    tree that crosses none of the nodes counts as correct.
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
    """Return the cross-entropy, per node, of the scores' distribution over trees relative to a target distribution.

    The scores' distribution is log-linear, so only the expected counts of the target matter.
    """
    left, right, lefts, rights = _score_matrices(scores)
    free = posterior(lefts, rights)
    value = free.log_normaliser - float((lefts * wanted.left).sum() + (rights * wanted.right).sum())
    loss = _with_gradient(value, left, right, free.left - wanted.left, free.right - wanted.right)
    return loss / max(1, len(lefts) - 1)


def span_posterior(scores: SplitScores) -> Posterior:
    """Return the distribution over trees that scores define, with the whole document in one chart."""
    _, _, lefts, rights = _score_matrices(scores)
    return posterior(lefts, rights)


def _score_matrices(scores: SplitScores) -> tuple[Tensor, Tensor, Matrix, Matrix]:
    """Return the scores by border, which carry gradients, and by width, which do not."""
    index = torch.arange(len(scores), device=scores.strength.device)
    left, right = scores.chart(index, index)
    return left, right, *by_width(_matrix(left), _matrix(right))


def _with_gradient(value: float, left: Tensor, right: Tensor, left_counts: Matrix, right_counts: Matrix) -> Tensor:
    # The gradient of the loss is the difference of expected counts: a product with that difference has it, and is then
    # shifted to the loss's value.
    lefts, rights = by_border(left_counts, right_counts)
    surrogate = (left * left.new_tensor(lefts)).sum() + (right * right.new_tensor(rights)).sum()
    return surrogate - surrogate.detach() + value


def decode(scores: SplitScores) -> Bracketing:
    """Return the tree of the largest expected number of right spans, with each span's probability."""
    edus = len(scores)
    firsts, lasts = np.arange(edus), np.arange(edus)
    nodes: list[NDArray[np.int64]] = []
    probabilities: list[NDArray[np.float64]] = []
    strength = scores.strength.detach().float().cpu().numpy()
    while len(firsts) > 1:
        cuts = _sections(lasts, strength)
        for start, end in pairwise(cuts):
            if end - start > 1:
                found, confidence = _decode_blocks(scores, firsts[start:end], lasts[start:end])
                nodes.append(found)
                probabilities.append(confidence)
        firsts, lasts = firsts[cuts[:-1]], lasts[np.array(cuts[1:]) - 1]
    if not nodes:
        return Bracketing(np.zeros((0, 3), dtype=np.int64), np.zeros(0))
    return Bracketing(np.concatenate(nodes), np.clip(np.concatenate(probabilities), 0.0, 1.0))


def _decode_blocks(
    scores: SplitScores, firsts: NDArray[np.int64], lasts: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    first, last = torch.from_numpy(firsts), torch.from_numpy(lasts)
    first, last = first.to(scores.strength.device), last.to(scores.strength.device)
    left, right = scores.chart(first, last)
    # Single precision suffices for decoding, and its exponential takes a quarter of the time.
    lefts, rights = by_width(_matrix(left).astype(np.float32), _matrix(right).astype(np.float32))
    spans = posterior(lefts, rights).spans
    nodes = best_tree(spans)
    confidence = spans[nodes[:, 0], nodes[:, 1] - nodes[:, 0]].astype(np.float64)
    return np.stack([firsts[nodes[:, 0]], lasts[nodes[:, 1]], lasts[nodes[:, 2]]], axis=1), confidence


def _sections(lasts: NDArray[np.int64], strength: NDArray[np.float32]) -> list[int]:
    """Return the indices at which sections of at most `LIMIT` blocks begin, and the number of blocks."""
    cuts = [0]
    while len(lasts) - cuts[-1] > LIMIT:
        # The strongest border in the second half of the longest possible section.
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


DESIGN = Design(loss, decode, soft_loss)
