"""ROUGE of a summarizer in training."""

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
