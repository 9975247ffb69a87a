"""Passes over all binary trees of documents: inside and outside sums, and the best trees for span values.

The leaves are EDUs, or blocks of EDUs in long documents. Several documents have a chart each, padded to the same number
of leaves. Each pass is one loop over widths, vectorised over charts, positions and splits; time is cubic in the leaves.
Memory is quadratic, except in `posterior`, which keeps every split of every span: 11 MiB for 256 leaves in single
precision.

The passes take NumPy arrays, which are twice as fast on a CPU, or tensors on any device. They call only functions that
have the same names and arguments in both libraries.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from discsum.devices import to_device
from discsum.parsers.structure.scores import Array, Expected, split_spans


@dataclass(frozen=True)
class Posterior(Expected):
    """The distribution over trees that scores define.

    Attributes:
        log_normaliser: `(charts,)` log of the sum over trees.
        spans: `(charts, leaves, leaves)`, `[c, i, w]`: probability that `i..i+w` is a constituent.
    """

    log_normaliser: Array
    spans: Array


def by_width(left: Tensor, right: Tensor) -> tuple[Tensor, Tensor]:
    """Return score matrices indexed by width instead of border.

    Args:
        left: `(charts, leaves, leaves - 1)`, `[c, i, k]`: score of `i..k` as a left child.
        right: `(charts, leaves - 1, leaves)`, `[c, k, j]`: score of `k+1..j` as a right child.

    Returns:
        `(charts, leaves, leaves)` twice: `[c, i, w]` for `i..i+w` as a left child, `[c, j, w]` for `j-w..j` as a right
        child; 0 outside.
    """
    index = torch.arange(left.shape[1], device=left.device)
    return _shifted(left, index[:, None] + index[None, :]), _shifted(right.mT, index[:, None] - index[None, :] - 1)


def by_border(left: Tensor, right: Tensor) -> tuple[Tensor, Tensor]:
    """Undo `by_width`."""
    index = torch.arange(left.shape[1], device=left.device)
    rights = _shifted(right, index[:, None] - index[None, :-1] - 1)
    return _shifted(left, index[None, :-1] - index[:, None]), rights.mT


def _shifted(values: Tensor, places: Tensor) -> Tensor:
    """Return `(charts, rows, width)`: the entries of each row at `places` `(rows, width)`, 0 for places outside it."""
    inside = (places >= 0) & (places < values.shape[-1])
    found = values.gather(2, places.clamp(0, values.shape[-1] - 1).expand(len(values), -1, -1))
    return torch.where(inside, found, 0.0)


def posterior(
    lefts: Array, rights: Array, counts: Sequence[int] | None = None, forbidden: Array | None = None
) -> Posterior:
    """Return the span probabilities under the scores that `by_width` gives.

    Args:
        lefts: `(charts, leaves, leaves)`; a single chart may come without the chart axis, which is faster.
        rights: The same shape.
        counts: Number of leaves of each chart; the others are padding, and their scores must be finite. By default all.
        forbidden: The same shape, `[c, i, w]`: whether `i..i+w` is excluded as a constituent.
    """
    xp, leaves = _library(lefts), lefts.shape[-1]
    as_left, as_right = lefts * 1, xp.flip(rights, (-1,)) * 1
    totals = xp.zeros_like(lefts[..., 0, :])
    # For each width, from 1 on: the exponential of each split of each span relative to the best, and their sums.
    shares = []
    for width in range(1, leaves):
        terms = _terms(as_left, as_right, width)
        top = xp.amax(terms, -1)
        terms -= top[..., None]
        xp.exp(terms, out=terms)
        sums = terms.sum(-1)
        shares.append((terms, sums))
        inside = top + xp.log(sums)
        if forbidden is not None:
            inside = xp.where(forbidden[..., : leaves - width, width], -1e9, inside)
        as_left[..., : leaves - width, width] += inside
        as_right[..., width:, leaves - 1 - width] += inside
        totals[..., width] = inside[..., 0]
    left, right, spans = xp.zeros_like(lefts), xp.zeros_like(lefts), xp.zeros_like(lefts)
    # The span of all leaves.
    whole: Any = (..., leaves - 1)
    if counts is not None:
        whole = _on(lefts, np.arange(len(counts))), _on(lefts, np.array(counts) - 1)
    spans[..., 0, :][whole] = 1.0
    for width in range(leaves - 1, 0, -1):
        own = spans[..., : leaves - width, width]
        own += left[..., : leaves - width, width] + right[..., width:, leaves - 1 - width]
        terms, sums = shares.pop()
        terms *= (own / sums)[..., None]
        left[..., : leaves - width, :width] += terms
        right[..., width:, leaves - width :] += terms
    spans[..., 0] = 1.0
    return Posterior(left, xp.flip(right, (-1,)) * 1, totals[whole], spans)


def _library(array: Array) -> Any:
    """Return the library of an array: NumPy or torch."""
    return np if isinstance(array, np.ndarray) else torch


def _on(array: Array, index: NDArray[np.int64]) -> Array:
    """Return an index in the library and on the device of an array."""
    return index if isinstance(array, np.ndarray) else to_device(index, array.device)


def _terms(as_left: Array, as_right: Array, width: int) -> Array:
    """Return `(..., leaves - width, width)`: the sum of both children for each span of that width and each split.

    `as_right` has the widest right children first, so that both are read forwards, which is faster.
    """
    leaves = as_left.shape[-1]
    return as_left[..., : leaves - width, :width] + as_right[..., width:, leaves - width :]


def best_splits(spans: Array) -> Array:
    """Return `(charts, leaves, leaves)`, as `spans`: where the best tree over each span divides it.

    The best tree over `i..i+w` has the largest sum of `spans[c, i, w]` over its spans, and its left child is `i..i+k`
    with `k = [c, i, w]`; in a tie, the shortest left child wins.
    """
    xp, leaves = _library(spans), spans.shape[-1]
    as_left, as_right = spans * 1, xp.zeros_like(spans)
    for width in range(leaves):
        as_right[..., width:, leaves - 1 - width] = spans[..., : leaves - width, width]
    splits = xp.zeros_like(spans, dtype=xp.int16)
    for width in range(1, leaves):
        terms = _terms(as_left, as_right, width)
        splits[..., : leaves - width, width] = terms.argmax(-1)
        value = xp.amax(terms, -1)
        as_left[..., : leaves - width, width] += value
        as_right[..., width:, leaves - 1 - width] += value
    return splits


def best_tree(splits: NDArray[np.int16], leaves: int) -> NDArray[np.int64]:
    """Return `(leaves - 1, 3)` nodes of the tree over the first `leaves`, in pre-order, from a chart's splits."""
    table = splits[:leaves, :leaves].tolist()
    return split_spans(leaves, lambda first, last: first + table[first][last - first])
