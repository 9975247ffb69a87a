"""Documents of each training step: passes over all documents, sampled by weight."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

# Batches whose documents are sorted by length together.
GROUP = 16


class Batches:
    """The batches of a run: endless passes of `steps` steps, each in its own order."""

    def __init__(self, lengths: NDArray[np.int64], weights: NDArray[np.float64], batch: int, seed: int) -> None:
        """Draw batches of `batch` documents with `lengths` units, each document as often as its weight says."""
        self.lengths, self.weights, self.batch, self.seed = lengths, weights, batch, seed
        self.steps = -(-len(lengths) // batch)
        self._pass: tuple[int, list[NDArray[np.int64]]] = (-1, [])

    def __getitem__(self, step: int, /) -> NDArray[np.int64]:
        """Return the documents `(batch,)` of a step of the run, from 0."""
        number, place = divmod(step, self.steps)
        if self._pass[0] != number:
            self._pass = (number, self._drawn(np.random.default_rng([self.seed, number])))
        return self._pass[1][place]

    def _drawn(self, random: np.random.Generator) -> list[NDArray[np.int64]]:
        drawn = random.permutation(systematic(self.weights, self.steps * self.batch, random))
        batches: list[NDArray[np.int64]] = []
        for group in np.split(drawn, range(GROUP * self.batch, len(drawn), GROUP * self.batch)):
            # Documents of similar length together: less padding.
            ordered = group[np.argsort(self.lengths[group], kind="stable")]
            batches += np.split(ordered, len(ordered) // self.batch)
        return [batches[index] for index in random.permutation(len(batches))]


def systematic(weights: NDArray[np.float64], count: int, random: np.random.Generator) -> NDArray[np.int64]:
    """Return `count` indices, each as often as its share of the weights, rounded up or down at random.

    With `count` equal weights each comes once (systematic resampling, Kitagawa 1996).
    """
    bounds = np.cumsum(weights / weights.sum()) * count
    # Except for rounding, the last bound is the count.
    bounds[-1] = count
    return np.searchsorted(bounds, random.random() + np.arange(count), side="right").astype(np.int64)
