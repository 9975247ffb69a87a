"""Documents as a summarizer's training examples, alone, in rows and in batches."""

from __future__ import annotations

import copy
import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from discsum.document import Document
from discsum.encoder.inputs import UnitInputs, batched, padded
from discsum.encoder.synthesizer import InputBatch
from discsum.errors import InputError


@dataclass(frozen=True)
class Example:
    """A document that a summarizer learns from or is chosen by.

    Attributes:
        document: The parsed document.
        references: Its reference summaries.
        inputs: What the network reads of it, or of its first section.
        labels: `(units,)` 1 for the units of the oracle.
    """

    document: Document
    references: tuple[str, ...]
    inputs: UnitInputs
    labels: NDArray[np.int64]


class Examples(Protocol):
    """A row of examples, in memory or read from disk as they are asked for.

    Attributes:
        width: Size of a unit vector.
        lengths: `(examples,)` how many units each has.
        encoder: What tells the Hugging Face encoder of its vectors from another: `encoder` and `revision`, if any.
        digest: A name for their content.
    """

    width: int
    lengths: NDArray[np.int64]
    encoder: dict[str, str]
    digest: str

    def __len__(self) -> int:
        """Return how many there are."""

    def __getitem__(self, index: int, /) -> Example:
        """Return one of them."""

    def texts(self) -> list[str]:
        """Return a digest of each one's text."""


class Collection:
    """The examples of several sources in a row, each source with its weight.

    Attributes:
        width: Size of a unit vector.
        encoder: As in `Examples`.
        lengths: `(examples,)` how many units each has.
        weights: `(examples,)` how often each is drawn, relative to others.
    """

    def __init__(self, sources: Sequence[tuple[Examples, float]]) -> None:
        """Put the sources' examples in a row.

        Raises:
            InputError: Sources whose vectors come from different encoders.
        """
        self._sources: list[Examples] = [examples for examples, _ in sources]
        sizes = [len(examples) for examples in self._sources]
        places = [(source, index) for source, size in enumerate(sizes) for index in range(size)]
        self._places: NDArray[np.int64] = np.array(places, dtype=np.int64).reshape(-1, 2)
        weights = [weight for (_, weight), size in zip(sources, sizes, strict=True) for _ in range(size)]
        self.weights: NDArray[np.float64] = np.array(weights, dtype=np.float64)
        self.lengths = np.concatenate([examples.lengths for examples in self._sources]).astype(np.int64)
        self.width = max((examples.width for examples in self._sources), default=0)
        encoders = {tuple(sorted(examples.encoder.items())) for examples in self._sources}
        if len(encoders) > 1:
            raise InputError(
                f"expected all sources' vectors from one encoder, got those of {len(encoders)}: {encoders}"
            )
        self.encoder = dict(next(iter(encoders), ()))

    def sampled(self, count: int, draw: int) -> Collection:
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

    def __getitem__(self, index: int, /) -> Example:
        """Return one of them."""
        source, place = self._places[index].tolist()
        example: Example = self._sources[source][place]
        return example

    def texts(self) -> list[str]:
        """Return a digest of each one's text."""
        found = [examples.texts() for examples in self._sources]
        return [found[source][place] for source, place in self._places]

    def ids(self, examples: Sequence[int]) -> list[str]:
        """Return the names of some examples' documents."""
        return [self[index].document.id for index in examples]


@dataclass(frozen=True)
class Batch:
    """Padded examples.

    Attributes:
        examples: The examples themselves.
        inputs: What the network reads.
        labels: `(batch, units)` oracle labels, 0 where padded.
    """

    examples: Sequence[Example]
    inputs: InputBatch
    labels: Tensor

    def to(self, device: torch.device) -> Batch:
        """Return the batch on a device."""
        return Batch(self.examples, self.inputs.to(device), self.labels.to(device))


def collate(examples: Sequence[Example]) -> Batch:
    """Return the examples as one padded batch."""
    labels = padded([torch.from_numpy(example.labels).float() for example in examples])
    return Batch(examples, batched([example.inputs for example in examples]), labels)
