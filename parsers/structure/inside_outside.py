"""Passes over all binary trees of a document: inside and outside sums, and the best tree for span values.

Each is one loop over widths, vectorised over places and splits; cost is cubic in the units. Memory is quadratic,
but for `posterior`, which keeps every split of every span: 11 MiB for 256 units in single precision.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from discsum.parsers.structure.scores import Expected, Matrix


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


def by_border(left: Matrix, right: Matrix) -> tuple[Matrix, Matrix]:
    """Undo `by_width`."""
    edus = len(left)
    index = np.arange(edus)
    width = index[None, :-1] - index[:, None]
    lefts = np.where(width >= 0, np.take_along_axis(left, np.maximum(width, 0), axis=1), 0.0)
    width = index[None, :] - index[:-1, None] - 1
    rights = np.where(width >= 0, np.take_along_axis(right.T, np.maximum(width, 0), axis=0), 0.0)
    return lefts, rights


def posterior(lefts: Matrix, rights: Matrix, forbidden: NDArray[np.bool_] | None = None) -> Posterior:
    """Return the span probabilities under the scores that `by_width` gives.

    `forbidden[i, w]` excludes `i..i+w` as a constituent.
    """
    units = len(lefts)
    as_left, as_right = lefts.copy(), np.ascontiguousarray(rights[:, ::-1])
    total = 0.0
    # For each width, from 1 on: how probable each split of each span is beside the others, and their sums.
    shares = []
    for width in range(1, units):
        terms = _terms(as_left, as_right, width)
        top = terms.max(axis=1)
        terms -= top[:, None]
        np.exp(terms, out=terms)
        sums = terms.sum(axis=1)
        shares.append((terms, sums))
        inside = top + np.log(sums)
        if forbidden is not None:
            inside = np.where(forbidden[: units - width, width], -1e9, inside)
        as_left[: units - width, width] += inside
        as_right[width:, units - 1 - width] += inside
        total = float(inside[0])
    left, right, spans = np.zeros_like(lefts), np.zeros_like(lefts), np.zeros_like(lefts)
    spans[:, 0] = 1.0
    spans[0, units - 1] = 1.0
    for width in range(units - 1, 0, -1):
        if width < units - 1:
            spans[: units - width, width] = left[: units - width, width] + right[width:, units - 1 - width]
        terms, sums = shares.pop()
        terms *= (spans[: units - width, width] / sums)[:, None]
        left[: units - width, :width] += terms
        right[width:, units - width :] += terms
    return Posterior(left, np.ascontiguousarray(right[:, ::-1]), total, spans)


def _terms(as_left: Matrix, as_right: Matrix, width: int) -> Matrix:
    """Return `(units - width, width)`: for each span of the width and each split of it, the sum of both children.

    Right children come with the widest first, so that both are read forwards, which is faster.
    """
    units = len(as_left)
    return as_left[: units - width, :width] + as_right[width:, units - width :]


def best_tree(spans: Matrix) -> NDArray[np.int64]:
    """Return `(units - 1, 3)` nodes of the tree with the largest sum of `spans[i, w]` over its spans `i..i+w`."""
    units = len(spans)
    as_left, as_right = spans.copy(), np.zeros_like(spans)
    for width in range(units):
        as_right[width:, units - 1 - width] = spans[: units - width, width]
    splits = np.zeros((units, units), dtype=np.int64)
    for width in range(1, units):
        terms = _terms(as_left, as_right, width)
        choice = terms.argmax(axis=1)
        value = terms[np.arange(len(terms)), choice]
        splits[: units - width, width] = choice
        as_left[: units - width, width] += value
        as_right[width:, units - 1 - width] += value
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
