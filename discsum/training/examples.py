"""Documents as a summarizer's training examples, alone, in rows and in batches."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from discsum.dependency import edu_heads, in_sentence_heads
from discsum.document import Document
from discsum.encoder.inputs import UnitInputs, batched, padded
from discsum.encoder.synthesizer import InputBatch


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
        digest: A name for their content.
    """

    width: int
    lengths: NDArray[np.int64]
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
        lengths: `(examples,)` how many units each has.
        weights: `(examples,)` how often each is drawn, relative to others.
        digest: A name for all that is to be learned.
    """

    def __init__(self, sources: Sequence[tuple[Examples, float]], sample: int | None = None, draw: int = 1) -> None:
        """Put the sources' examples in a row.

        Args:
            sources: Examples and their weights.
            sample: How many are drawn from all of them, once and for good; all by default or where there are no more.
            draw: Seed of the drawing.
        """
        self._sources: list[Examples] = [examples for examples, _ in sources]
        sizes = [len(examples) for examples in self._sources]
        places = np.array([(source, index) for source, size in enumerate(sizes) for index in range(size)])
        places = places.reshape(-1, 2)
        if sample is not None and sample < len(places):
            # In their order, so that the same documents are the same row.
            places = places[np.sort(np.random.default_rng(draw).permutation(len(places))[:sample])]
        self._places = places
        weights = np.array([weight for _, weight in sources])
        self.weights: NDArray[np.float64] = weights[places[:, 0]] if len(places) else np.zeros(0)
        lengths = [self._sources[source].lengths[index] for source, index in places]
        self.lengths: NDArray[np.int64] = np.array(lengths, dtype=np.int64)
        self.width = max((examples.width for examples in self._sources), default=0)
        content = [*(examples.digest for examples in self._sources), places.tolist(), self.weights.tolist()]
        self.digest = hashlib.sha256(repr(content).encode()).hexdigest()[:16]

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


def section_heads(document: Document, edus: int) -> NDArray[np.int64]:
    """Return `(edus,)` the EDU each of the document's first EDUs depends on in its sentence, -1 for none of them."""
    assert document.tree is not None, "only parsed documents are learned from"
    heads = in_sentence_heads(edu_heads(document.tree), document.edu_to_sentence)[:edus]
    return np.where(heads < edus, heads, -1)


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
