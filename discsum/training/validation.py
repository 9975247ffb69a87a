"""How good a summarizer in training is: ROUGE of its summaries of examples."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from discsum.batches import batches
from discsum.encoder.inputs import batched
from discsum.encoder.synthesizer import Synthesizer
from discsum.extract import Scorer, extract
from discsum.rouge import RougeScores, rouge
from discsum.selection import Policy
from discsum.training.examples import Example

BATCH = 32


class Row(Protocol):
    """Examples in a row."""

    def __len__(self) -> int:
        """Return how many there are."""

    def __getitem__(self, index: int, /) -> Example:
        """Return one of them."""


@torch.inference_mode()
def confidences(network: Synthesizer, examples: Sequence[Example]) -> list[Tensor]:
    """Return each example's `(units,)` confidences."""
    logits = network(batched([example.inputs for example in examples]).to(network.device))
    return [torch.sigmoid(row[: len(item.labels)]).cpu() for row, item in zip(logits, examples, strict=True)]


def score_examples(network: Synthesizer, scorer: Scorer, policy: Policy, examples: Row) -> RougeScores:
    """Return the ROUGE scores of the summaries that a network's confidences give.

    Args:
        network: Scores the units.
        scorer: In whose name the summaries are made.
        policy: Unit and length of the summaries.
        examples: Documents with references.
    """
    lines, references = [], []
    network.eval()
    for block in batches((examples[index] for index in range(len(examples))), BATCH):
        for example, scores in zip(block, confidences(network, block), strict=True):
            values = _padded(scores, len(example.document.units(policy.unit)))
            lines.append("\n".join(extract(example.document, scorer, policy, scores=values).lines))
            references.append(list(example.references))
    return rouge(lines, references)


def _padded(scores: Tensor, units: int) -> NDArray[np.float64]:
    """Return the scores with zeros for the units beyond the section that examples hold."""
    values: NDArray[np.float64] = np.zeros(units)
    values[: len(scores)] = scores.double().numpy()
    return values
