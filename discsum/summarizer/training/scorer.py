"""What is trained: the Synthesizer, and maybe the last layers of the encoder below it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from torch import Tensor, nn

from discsum.encoder.inputs import padded
from discsum.encoder.synthesizer import InputBatch, Synthesizer
from discsum.summarizer.training.examples import Batch, UnitExample, collate

if TYPE_CHECKING:
    from discsum.parsers.unit_encoders import UnitEncoder


class ScoringNetwork(nn.Module):
    """Scores the units of examples, from the vectors that they come with or from encoding them anew.

    Attributes:
        network: The Synthesizer.
        layers: The encoder's trained layers.
    """

    def __init__(self, network: Synthesizer, encoder: UnitEncoder | None, unit: str) -> None:
        """Put an encoder below a network; none where examples come with vectors."""
        super().__init__()
        self.network = network
        self.layers = encoder.trained if encoder is not None else nn.ModuleList()
        self.unit = unit
        # In a list: what is frozen is no part of this module, of its checkpoints or of its average.
        self._encoder = [encoder]

    @property
    def encoder(self) -> UnitEncoder | None:
        """What encodes units anew."""
        return self._encoder[0]

    def train(self, mode: bool = True) -> ScoringNetwork:
        """Switch dropout on or off, the frozen layers' too, as the paper's encoder has it."""
        super().train(mode)
        if self.encoder is not None:
            self.encoder.train(mode)
        return self

    def forward(self, batch: Batch) -> Tensor:
        """Return `(batch, units)` logits."""
        return self._logits(batch)

    def _logits(self, batch: Batch) -> Tensor:
        logits: Tensor = self.network(self._inputs(batch))
        return logits

    def _inputs(self, batch: Batch) -> InputBatch:
        if self.encoder is None:
            return batch.inputs
        vectors = self.encoder.vectors([example.document for example in batch.examples], self.unit)
        sections = [row[: len(example.labels)] for row, example in zip(vectors, batch.examples, strict=True)]
        return replace(batch.inputs, vectors=padded(sections))

    def score(self, examples: Sequence[UnitExample]) -> Tensor:
        """Return `(examples, units)` logits of examples."""
        # Not by a call of this module, to which accelerate adds training's precision.
        return self._logits(collate(examples).to(self.network.device))
