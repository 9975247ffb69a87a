"""Documents of each training step: passes over all documents, sampled by weight, file by file where they are many."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

# Batches whose documents are sorted by length together.
GROUP = 16


class Batches:
    """The batches of a run: endless passes of `steps` steps, each in its own order."""

    def __init__(
        self,
        lengths: NDArray[np.int64],
        weights: NDArray[np.float64],
        batch: int,
        seed: int,
        blocks: NDArray[np.int64] | None = None,
    ) -> None:
        """Draw batches of documents.

        Args:
            lengths: `(documents,)` units of each; a batch has documents of similar length.
            weights: `(documents,)` how often each is drawn, relative to others.
            batch: Documents of a batch.
            seed: Seed of the draws.
            blocks: `(documents, 2)` the source of each document and its block there, from 0. A pass goes through the
                blocks of a source one after another in random order, in random order within each, so that files are
                read once a pass; sources are mixed all along. By default one block.
        """
        self.lengths, self.weights, self.batch, self.seed = lengths, weights, batch, seed
        self.blocks = blocks if blocks is not None and blocks[:, 1].any() else None
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
        if self.blocks is not None:
            drawn = drawn[np.argsort(_places(self.blocks[drawn], random), kind="stable")]
        groups: list[list[NDArray[np.int64]]] = []
        for group in np.split(drawn, range(GROUP * self.batch, len(drawn), GROUP * self.batch)):
            # Documents of similar length together: less padding.
            ordered = group[np.argsort(self.lengths[group], kind="stable")]
            groups.append(np.split(ordered, len(ordered) // self.batch))
        if self.blocks is None:
            groups = [[batch for group in groups for batch in group]]
        return [group[index] for group in groups for index in random.permutation(len(group))]


def _places(blocks: NDArray[np.int64], random: np.random.Generator) -> NDArray[np.float64]:
    """Return where in a pass the drawn documents stand `(documents,)`, in [0, 1), by their blocks as of `Batches`."""
    places = np.empty(len(blocks))
    for source in np.unique(blocks[:, 0]):
        own = blocks[:, 0] == source
        numbers = blocks[own, 1]
        sizes = np.bincount(numbers)
        order = random.permutation(len(sizes))
        begins = np.empty(len(sizes))
        begins[order] = np.cumsum(sizes[order]) - sizes[order]
        places[own] = (begins[numbers] + random.random(len(numbers)) * sizes[numbers]) / len(numbers)
    return places


def systematic(weights: NDArray[np.float64], count: int, random: np.random.Generator) -> NDArray[np.int64]:
    """Return `count` indices, each as often as its share of the weights, rounded up or down at random.

    With `count` equal weights each comes once (systematic resampling, Kitagawa 1996).
    """
    bounds = np.cumsum(weights / weights.sum()) * count
    # Except for rounding, the last bound is the count.
    bounds[-1] = count
    return np.searchsorted(bounds, random.random() + np.arange(count), side="right").astype(np.int64)
