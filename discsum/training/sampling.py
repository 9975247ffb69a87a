"""Batches of training documents: passes over all documents, sampled by weight and, for large data, block by block."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

# Number of batches whose documents are sorted by length together.
GROUP = 16


class Batches:
    """The batches of a run: any number of passes of `steps` steps, each in a different random order."""

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
            lengths: `(documents,)` length of each; a batch has documents of similar length.
            weights: `(documents,)` how often each is drawn, relative to the others.
            batch: Number of documents in a batch.
            seed: Seed of the draws.
            blocks: `(documents, 2)` source and block of each document, from 0. A pass visits the blocks of a source one
                after another in random order and shuffles the documents within each, so that each file is read once
                per pass. Sources are mixed throughout the pass. By default there is one block.
        """
        self.lengths, self.weights, self.batch, self.seed = lengths, weights, batch, seed
        self.blocks = blocks if blocks is not None and blocks[:, 1].any() else None
        self.steps = -(-len(lengths) // batch)
        self._pass: tuple[int, list[NDArray[np.int64]]] = (-1, [])

    def __getitem__(self, step: int, /) -> NDArray[np.int64]:
        """Return the document indices `(batch,)` of a step of the run; steps count from 0."""
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
            # Batches of similar length need less padding.
            ordered = group[np.argsort(self.lengths[group], kind="stable")]
            groups.append(np.split(ordered, len(ordered) // self.batch))
        if self.blocks is None:
            groups = [[batch for group in groups for batch in group]]
        return [group[index] for group in groups for index in random.permutation(len(group))]


def _places(blocks: NDArray[np.int64], random: np.random.Generator) -> NDArray[np.float64]:
    """Return the position `(documents,)` of each drawn document in a pass, in [0, 1); see `blocks` of `Batches`."""
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
    """Return `(count,)` indices, each as often as its share of the weights, rounded up or down at random.

    With `count` equal weights, each is drawn once (systematic resampling, Kitagawa 1996).
    """
    bounds = np.cumsum(weights / weights.sum()) * count
    # The last bound equals the count except for rounding.
    bounds[-1] = count
    return np.searchsorted(bounds, random.random() + np.arange(count), side="right").astype(np.int64)
