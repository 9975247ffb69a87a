"""Passes over all binary trees of a document: inside and outside sums, and the best tree for span values.

The leaves are EDUs, or blocks of EDUs in long documents. Each pass is one loop over widths, vectorised over positions
and splits; time is cubic in the leaves. Memory is quadratic, except in `posterior`, which keeps every split of every
span: 11 MiB for 256 leaves in single precision.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from discsum.parsers.structure.scores import Expected, Matrix, split_spans


@dataclass(frozen=True)
class Posterior(Expected):
    """The distribution over trees that scores define.

    Attributes:
        log_normaliser: Log of the sum over trees.
        spans: `(leaves, leaves)`, `[i, w]`: probability that `i..i+w` is a constituent.
    """

    log_normaliser: float
    spans: Matrix


def by_width(left: Matrix, right: Matrix) -> tuple[Matrix, Matrix]:
    """Return score matrices indexed by width instead of border.

    Args:
        left: `(leaves, leaves - 1)`, `[i, k]`: score of `i..k` as a left child.
        right: `(leaves - 1, leaves)`, `[k, j]`: score of `k+1..j` as a right child.

    Returns:
        `(leaves, leaves)` twice: `[i, w]` for `i..i+w` as a left child, `[j, w]` for `j-w..j` as a right child; 0
        outside.
    """
    leaves = len(left)
    index = np.arange(leaves)
    border = index[:, None] + index[None, :]
    lefts = np.where(border < leaves - 1, np.take_along_axis(left, np.minimum(border, leaves - 2), axis=1), 0.0)
    border = index[:, None] - index[None, :] - 1
    rights = np.where(border >= 0, np.take_along_axis(right.T, np.maximum(border, 0), axis=1), 0.0)
    return lefts, rights


def by_border(left: Matrix, right: Matrix) -> tuple[Matrix, Matrix]:
    """Undo `by_width`."""
    index = np.arange(len(left))
    width = index[None, :-1] - index[:, None]
    lefts = np.where(width >= 0, np.take_along_axis(left, np.maximum(width, 0), axis=1), 0.0)
    width = index[None, :] - index[:-1, None] - 1
    rights = np.where(width >= 0, np.take_along_axis(right.T, np.maximum(width, 0), axis=0), 0.0)
    return lefts, rights


def posterior(lefts: Matrix, rights: Matrix, forbidden: NDArray[np.bool_] | None = None) -> Posterior:
    """Return the span probabilities under the scores that `by_width` gives.

    `forbidden[i, w]` excludes `i..i+w` as a constituent.
    """
    leaves = len(lefts)
    as_left, as_right = lefts.copy(), np.ascontiguousarray(rights[:, ::-1])
    total = 0.0
    # For each width, from 1 on: the exponential of each split of each span relative to the best, and their sums.
    shares = []
    for width in range(1, leaves):
        terms = _terms(as_left, as_right, width)
        top = terms.max(axis=1)
        terms -= top[:, None]
        np.exp(terms, out=terms)
        sums = terms.sum(axis=1)
        shares.append((terms, sums))
        inside = top + np.log(sums)
        if forbidden is not None:
            inside = np.where(forbidden[: leaves - width, width], -1e9, inside)
        as_left[: leaves - width, width] += inside
        as_right[width:, leaves - 1 - width] += inside
        total = float(inside[0])
    left, right, spans = np.zeros_like(lefts), np.zeros_like(lefts), np.zeros_like(lefts)
    spans[:, 0] = 1.0
    spans[0, leaves - 1] = 1.0
    for width in range(leaves - 1, 0, -1):
        if width < leaves - 1:
            spans[: leaves - width, width] = left[: leaves - width, width] + right[width:, leaves - 1 - width]
        terms, sums = shares.pop()
        terms *= (spans[: leaves - width, width] / sums)[:, None]
        left[: leaves - width, :width] += terms
        right[width:, leaves - width :] += terms
    return Posterior(left, np.ascontiguousarray(right[:, ::-1]), total, spans)


def _terms(as_left: Matrix, as_right: Matrix, width: int) -> Matrix:
    """Return `(leaves - width, width)`: the sum of both children for each span of that width and each split.

    `as_right` has the widest right children first, so that both are read forwards, which is faster.
    """
    leaves = len(as_left)
    return as_left[: leaves - width, :width] + as_right[width:, leaves - width :]


def best_tree(spans: Matrix) -> NDArray[np.int64]:
    """Return `(leaves - 1, 3)` nodes of the tree with the largest sum of `spans[i, w]` over its spans `i..i+w`."""
    leaves = len(spans)
    as_left, as_right = spans.copy(), np.zeros_like(spans)
    for width in range(leaves):
        as_right[width:, leaves - 1 - width] = spans[: leaves - width, width]
    splits = np.zeros((leaves, leaves), dtype=np.int64)
    for width in range(1, leaves):
        terms = _terms(as_left, as_right, width)
        choice = terms.argmax(axis=1)
        value = terms[np.arange(len(terms)), choice]
        splits[: leaves - width, width] = choice
        as_left[: leaves - width, width] += value
        as_right[width:, leaves - 1 - width] += value
    return split_spans(leaves, lambda first, last: first + int(splits[first, last - first]))
