"""Training examples of extractive summarizers, their collections and batches."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from discsum.data.examples import Collection
from discsum.document import Document
from discsum.encoder.inputs import UnitInputs, batched, padded
from discsum.encoder.synthesizer import InputBatch
from discsum.errors import InputError

if TYPE_CHECKING:
    from discsum.summarizer.training.unit_examples import UnitExamples


@dataclass(frozen=True)
class UnitExample:
    """A parsed document with its references, for training or validation.

    Attributes:
        inputs: Inputs of the network, of the first section of a long document.
        labels: `(units,)` 1 for the units of the oracle.
    """

    document: Document
    references: tuple[str, ...]
    inputs: UnitInputs
    labels: NDArray[np.int64]


class UnitCollection(Collection[UnitExample]):
    """The examples of several sources, whose vectors come from one encoder.

    Attributes:
        width: Size of a unit vector.
        encoder: Identity of the Hugging Face encoder of the vectors: `encoder` and `revision`, if any.
    """

    def __init__(self, sources: Sequence[tuple[UnitExamples, float]]) -> None:
        """Concatenate the examples of sources with weights.

        Raises:
            InputError: Sources whose vectors come from different encoders.
        """
        super().__init__(sources)
        self.width = max((examples.width for examples, _ in sources), default=0)
        encoders = {tuple(sorted(examples.encoder.items())) for examples, _ in sources}
        if len(encoders) > 1:
            raise InputError(
                f"expected all sources' vectors from one encoder, got those of {len(encoders)}: {encoders}"
            )
        self.encoder = dict(next(iter(encoders), ()))


@dataclass(frozen=True)
class Batch:
    """Examples with their padded inputs and labels `(batch, units)`, 0 where padded."""

    examples: Sequence[UnitExample]
    inputs: InputBatch
    labels: Tensor

    def to(self, device: torch.device) -> Batch:
        """Return the batch on a device."""
        return Batch(self.examples, self.inputs.to(device), self.labels.to(device))


def collate(examples: Sequence[UnitExample]) -> Batch:
    """Return the examples as one padded batch."""
    labels = padded([torch.from_numpy(example.labels).float() for example in examples])
    return Batch(examples, batched([example.inputs for example in examples]), labels)
