"""The greedy search that all oracles share."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

# Smaller gains are rounding errors; equal candidates must stay equal, so that the first one wins.
TOLERANCE = 1e-12


def greedy(count: int, k: int | None, scores: Callable[[list[int]], NDArray[np.float64]]) -> list[int]:
    """Select at most `k` of `count` candidates greedily; each step adds the one that raises the score most.

    Ties go to the first candidate, and the search stops when none raises the score. `scores` is called once per step
    with the selection so far, and returns the score `(count,)` of that selection with each candidate added.
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
