"""The trained network: the Synthesizer, and the last layers of the encoder if they are trained."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from torch import Tensor, nn

from discsum.encoder.inputs import padded
from discsum.encoder.synthesizer import Synthesizer
from discsum.summarizer.training.examples import Batch, UnitExample, collate

if TYPE_CHECKING:
    from discsum.parsers.unit_encoders import UnitEncoder


class ScoringNetwork(nn.Module):
    """Scores the units of examples, by their vectors or by encoding them.

    Attributes:
        network: The Synthesizer.
        layers: The encoder's trained layers.
    """

    def __init__(self, network: Synthesizer, encoder: UnitEncoder | None, unit: str) -> None:
        """Combine a network with an encoder; none if examples have vectors."""
        super().__init__()
        self.network = network
        self.layers = encoder.trained if encoder is not None else nn.ModuleList()
        self.unit = unit
        # In a list: frozen layers are not registered, so checkpoints and weight averages leave them out.
        self._encoder = [encoder]

    @property
    def encoder(self) -> UnitEncoder | None:
        """The encoder of units, if they are encoded during training."""
        return self._encoder[0]

    def train(self, mode: bool = True) -> ScoringNetwork:
        """Switch dropout on or off, in frozen layers too, as in the paper."""
        super().train(mode)
        if self.encoder is not None:
            self.encoder.train(mode)
        return self

    def forward(self, batch: Batch) -> Tensor:
        """Return `(batch, units)` logits."""
        inputs = batch.inputs
        if self.encoder is not None:
            vectors = self.encoder.vectors([example.document for example in batch.examples], self.unit)
            sections = [row[: len(example.labels)] for row, example in zip(vectors, batch.examples, strict=True)]
            inputs = replace(inputs, vectors=padded(sections))
        logits: Tensor = self.network(inputs)
        return logits

    def score(self, examples: Sequence[UnitExample]) -> Tensor:
        """Return `(examples, units)` logits of examples, in full precision."""
        # The class's method: accelerate wraps this object's in the precision of training.
        return ScoringNetwork.forward(self, collate(examples).to(self.network.device))
