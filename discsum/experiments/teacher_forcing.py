"""Probability of reference summaries under sequence-to-sequence models, under teacher forcing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray

from discsum.abstractive.family import IGNORED
from discsum.abstractive.summarizer import AbstractiveSummarizer
from discsum.abstractive.training.encoding import TextBatch, encode_whole
from discsum.document import Document


class Likelihood(NamedTuple):
    """How probable a model makes its targets.

    Attributes:
        nats: `(documents,)` mean negative log-probability per token of each target.
        tokens: `(documents,)` number of tokens of each target.
        accuracy: `(documents,)` share of these tokens that are the most probable given the tokens before.
    """

    nats: NDArray[np.float64]
    tokens: NDArray[np.int64]
    accuracy: NDArray[np.float64]

    @property
    def perplexity(self) -> float:
        """Perplexity per token of the targets."""
        return float(np.exp(np.average(self.nats, weights=self.tokens)))


def encoded_pairs(
    summarizer: AbstractiveSummarizer, documents: Sequence[Document], targets: Sequence[str]
) -> list[TextBatch]:
    """Return a batch for each document with its target; long documents are truncated to the model's positions."""
    return [encode_whole(summarizer.family, *both) for both in zip(documents, targets, strict=True)]


def likelihood(model: Any, batches: Sequence[TextBatch]) -> Likelihood:
    """Return the likelihood of the targets of batches of one document each; a model chooses chunks as at test time."""
    nats, tokens, accuracy = zip(*(_of_batch(model, batch) for batch in batches), strict=True)
    return Likelihood(np.array(nats), np.array(tokens), np.array(accuracy))


# Not `inference_mode`: a layout keeps tensors that a training step of the same batch needs.
@torch.no_grad()
def _of_batch(model: Any, batch: TextBatch) -> tuple[float, int, float]:
    batch = batch.to(model.device)
    # Given labels, a model would compute its own loss.
    given = {name: value for name, value in batch.inputs.items() if name != "labels"}
    labels = batch.inputs["labels"]
    counted = labels != IGNORED
    logits, labels = model(**given, **batch.extra, use_cache=False).logits.float()[counted], labels[counted]
    entropy = torch.nn.functional.cross_entropy(logits, labels)
    return float(entropy), len(labels), float((logits.argmax(dim=1) == labels).float().mean())
