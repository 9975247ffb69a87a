"""The trained network: the Synthesizer, and the last layers of the encoder if they are trained; and its validation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from discsum.batches import batches
from discsum.encoder.inputs import padded
from discsum.encoder.synthesizer import Synthesizer
from discsum.metrics.rouge import RougeScores, rouge
from discsum.scoring import UnitScorer, extract
from discsum.selection import Policy
from discsum.summarizer.training.examples import Batch, UnitCollection, UnitExample, collate

if TYPE_CHECKING:
    from discsum.parsers.unit_encoders import UnitEncoder

# Documents scored together in validation.
BATCH = 32


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


@torch.inference_mode()
def score_examples(
    scorer: ScoringNetwork, summarizer: UnitScorer, policy: Policy, examples: UnitCollection
) -> RougeScores:
    """Return the ROUGE scores of a scorer's summaries of examples.

    Args:
        scorer: Scores the units, without dropout.
        summarizer: Named in the summaries.
        policy: Unit and length of the summaries.
        examples: Documents with references.
    """
    lines, references = [], []
    for block in batches((examples[index] for index in range(len(examples))), BATCH):
        for example, logits in zip(block, torch.sigmoid(scorer.score(block)).cpu(), strict=True):
            values = _padded(logits[: len(example.labels)], len(example.document.units(policy.unit)))
            lines.append("\n".join(extract(example.document, summarizer, policy, scores=values).lines))
            references.append(list(example.references))
    return rouge(lines, references)


def _padded(scores: Tensor, unit_count: int) -> NDArray[np.float64]:
    """Return the scores, with zeros for units after the section of the example."""
    values: NDArray[np.float64] = np.zeros(unit_count)
    values[: len(scores)] = scores.double().numpy()
    return values
