"""Training examples in rows: those of each source, and of several sources together."""

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
    """A row of examples, in memory or read from disk as they are asked for.

    Attributes:
        lengths: `(examples,)` by which those of a batch are chosen to be alike.
        digest: A name for their content.
    """

    lengths: NDArray[np.int64]
    digest: str

    def __len__(self) -> int:
        """Return how many there are."""

    def __getitem__(self, index: int, /) -> ItemOut:
        """Return one of them."""

    def texts(self) -> list[str]:
        """Return a digest of each one's text."""


class Collection(Generic[Item]):
    """The examples of several sources in a row, each source with its weight.

    Attributes:
        lengths: `(examples,)` by which those of a batch are chosen to be alike.
        weights: `(examples,)` how often each is drawn, relative to others.
    """

    def __init__(self, sources: Sequence[tuple[Examples[Item], float]]) -> None:
        """Put the sources' examples in a row."""
        self._sources: list[Examples[Item]] = [examples for examples, _ in sources]
        sizes = [len(examples) for examples in self._sources]
        places = [(source, index) for source, size in enumerate(sizes) for index in range(size)]
        self._places: NDArray[np.int64] = np.array(places, dtype=np.int64).reshape(-1, 2)
        weights = [weight for (_, weight), size in zip(sources, sizes, strict=True) for _ in range(size)]
        self.weights: NDArray[np.float64] = np.array(weights, dtype=np.float64)
        self.lengths = np.concatenate([examples.lengths for examples in self._sources]).astype(np.int64)

    def sampled(self, count: int, draw: int) -> Self:
        """Return so many of the examples, drawn at random with that seed, in their order; all if there are no more."""
        sample = copy.copy(self)
        chosen = np.sort(np.random.default_rng(draw).permutation(len(self))[:count])
        sample._places, sample.weights = self._places[chosen], self.weights[chosen]
        sample.lengths = self.lengths[chosen]
        return sample

    @property
    def digest(self) -> str:
        """A name for all that is to be learned."""
        content = [*(examples.digest for examples in self._sources), self._places.tolist(), self.weights.tolist()]
        return hashlib.sha256(repr(content).encode()).hexdigest()[:16]

    def __len__(self) -> int:
        """Return how many there are."""
        return len(self._places)

    def __getitem__(self, index: int, /) -> Item:
        """Return one of them."""
        source, place = self._places[index].tolist()
        example: Item = self._sources[source][place]
        return example

    def texts(self) -> list[str]:
        """Return a digest of each one's text."""
        found = [examples.texts() for examples in self._sources]
        return [found[source][place] for source, place in self._places]

    def ids(self, examples: Sequence[int]) -> list[str]:
        """Return the document ids of some examples."""
        items: list[Any] = [self[index] for index in examples]
        return [item.document.id for item in items]
