"""How good a summarizer in training is: ROUGE of its summaries of examples."""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from discsum.batches import batches
from discsum.metrics.rouge import RougeScores, rouge
from discsum.scoring import UnitScorer, extract
from discsum.selection import Policy
from discsum.summarizer.training.examples import UnitCollection
from discsum.summarizer.training.scorer import ScoringNetwork

BATCH = 32


@torch.inference_mode()
def score_examples(
    scorer: ScoringNetwork, namesake: UnitScorer, policy: Policy, examples: UnitCollection
) -> RougeScores:
    """Return the ROUGE scores of the summaries that a scorer in training makes of examples.

    Args:
        scorer: Scores the units, without dropout.
        namesake: In whose name the summaries are made.
        policy: Unit and length of the summaries.
        examples: Documents with references.
    """
    lines, references = [], []
    for block in batches((examples[index] for index in range(len(examples))), BATCH):
        for example, logits in zip(block, torch.sigmoid(scorer.score(block)).cpu(), strict=True):
            values = _padded(logits[: len(example.labels)], len(example.document.units(policy.unit)))
            lines.append("\n".join(extract(example.document, namesake, policy, scores=values).lines))
            references.append(list(example.references))
    return rouge(lines, references)


def _padded(scores: Tensor, units: int) -> NDArray[np.float64]:
    """Return the scores with zeros for the units beyond the section that examples hold."""
    values: NDArray[np.float64] = np.zeros(units)
    values[: len(scores)] = scores.double().numpy()
    return values
