"""Sequences of training examples, of one source and of several."""

from __future__ import annotations

import copy
import hashlib
from collections.abc import Sequence
from typing import Any, Generic, Protocol, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

Item = TypeVar("Item")
ItemOut = TypeVar("ItemOut", covariant=True)


class Examples(Protocol[ItemOut]):
    """Examples of one source, in memory or read from disk on access.

    Attributes:
        lengths: `(examples,)`; a batch has examples of similar length.
        blocks: `(examples,)` number of the block of files that each example is in; see `DatasetRows.blocks`.
        digest: Identifies the content.
    """

    lengths: NDArray[np.int64]
    blocks: NDArray[np.int64]
    digest: str

    def __len__(self) -> int:
        """Return the number of examples."""

    def __getitem__(self, index: int, /) -> ItemOut:
        """Return one example."""

    def texts(self) -> list[str]:
        """Return a digest of the text of each example."""


class Collection(Generic[Item]):
    """The examples of several sources, one source after another.

    Attributes:
        lengths: `(examples,)`; a batch has examples of similar length.
        weights: `(examples,)` sampling weights: each example has the weight of its source.
        blocks: `(examples, 2)` for each example the number of its source and its block in that source, from 0.
    """

    def __init__(self, sources: Sequence[tuple[Examples[Item], float]]) -> None:
        """Concatenate sources, given with their weights."""
        self._sources: list[Examples[Item]] = [examples for examples, _ in sources]
        sizes = [len(examples) for examples in self._sources]
        numbers, within = np.repeat(np.arange(len(sizes)), sizes), [np.arange(size) for size in sizes]
        self._places: NDArray[np.int64] = np.stack([numbers, np.concatenate(within)], axis=1)
        self.weights: NDArray[np.float64] = np.repeat([float(weight) for _, weight in sources], sizes)
        self.lengths = np.concatenate([examples.lengths for examples in self._sources]).astype(np.int64)
        blocks = np.concatenate([examples.blocks for examples in self._sources]).astype(np.int64)
        self.blocks: NDArray[np.int64] = np.stack([self._places[:, 0], blocks], axis=1)

    def sampled(self, count: int | None, draw: int) -> Self:
        """Return `count` random examples drawn with seed `draw`, in their order here; None for all."""
        sample = copy.copy(self)
        chosen = np.sort(np.random.default_rng(draw).permutation(len(self))[:count])
        sample._places, sample.weights = self._places[chosen], self.weights[chosen]
        sample.lengths, sample.blocks = self.lengths[chosen], self.blocks[chosen]
        return sample

    @property
    def digest(self) -> str:
        """Digest that identifies examples and weights."""
        digest = hashlib.sha256(repr([examples.digest for examples in self._sources]).encode())
        # The order of examples in a pass depends on their blocks.
        for values in (self._places, self.weights, self.blocks):
            digest.update(values.tobytes())
        return digest.hexdigest()[:16]

    def __len__(self) -> int:
        """Return the number of examples."""
        return len(self._places)

    def __getitem__(self, index: int, /) -> Item:
        """Return one example."""
        source, place = self._places[index].tolist()
        example: Item = self._sources[source][place]
        return example

    def texts(self) -> list[str]:
        """Return a digest of the text of each example."""
        found = [examples.texts() for examples in self._sources]
        return [found[source][place] for source, place in self._places]

    def ids(self, examples: Sequence[int]) -> list[str]:
        """Return the document ids of some examples."""
        items: list[Any] = [self[index] for index in examples]
        return [item.document.id for item in items]
