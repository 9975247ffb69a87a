"""The greedy search that all oracles share."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

# A gain below this is rounding, so equal candidates stay equal and the first one wins.
TOLERANCE = 1e-12


def greedy(count: int, k: int | None, scores: Callable[[list[int]], NDArray[np.float64]]) -> list[int]:
    """Return at most `k` of `count` candidates, each the one that raises the score most (ties: the first).

    `scores` is called once a step with the selection so far, and returns its scores with each candidate `(count,)`.
    """
    selected: list[int] = []
    best = 0.0
    while len(selected) < (count if k is None else min(k, count)):
        found = scores(selected)
        found[selected] = -1.0
        if found.max() <= best + TOLERANCE:
            break
        best = float(found.max())
        selected.append(int(np.flatnonzero(found >= best - TOLERANCE)[0]))
    return selected
