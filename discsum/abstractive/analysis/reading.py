"""What reading fewer sentences costs: ROUGE, and the attention that what is read holds (figures 2 and 4)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discsum.abstractive.analysis.recording import observed
from discsum.abstractive.sparse.conversion import exactly
from discsum.abstractive.summarizer import AbstractiveSummarizer
from discsum.batches import batches
from discsum.document import Document
from discsum.metrics.rouge import METRICS, RougeScores, rouge

BATCH = 8


@dataclass(frozen=True, eq=False)
class Reading:
    """A system that reads `r` sentences a step, measured.

    Attributes:
        r: How many; none for all of them.
        rouge: Of its summaries.
        mass: Mean share of attention on the sentences that it reads, while it reads out references, of heads, steps and
            layers; each document counts once.
    """

    r: int | None
    rouge: RougeScores
    mass: float

    def to_dict(self) -> dict[str, Any]:
        """Return the figures, ROUGE in percent."""
        return {
            "r": self.r,
            **{metric: 100 * self.rouge.mean[metric] for metric in METRICS},
            "mass": self.mass,
            "documents": {metric: self.rouge.metric(metric).tolist() for metric in METRICS},
        }


def read_some(
    summarizer: AbstractiveSummarizer,
    documents: Sequence[Document],
    references: Sequence[Sequence[str]],
    r: int | None,
    split: Callable[[Sequence[str]], list[str]],
    report: Callable[[int], None] = lambda done: None,
    **generation: Any,
) -> Reading:
    """Return how a system does when it reads `r` sentences a step.

    Args:
        summarizer: The system.
        documents: With sentences, and with trees where its selector asks for them; what it cannot read of them is cut.
        references: Each document's.
        r: Sentences a step; none for all.
        split: Gives summaries one sentence a line, as ROUGE-Lsum asks for.
        report: Takes the number of documents done.
        generation: Options of `generate`.
    """
    written: list[str] = []
    with exactly(summarizer.model, r):
        for block in batches(documents, BATCH):
            written += [one.text for one in summarizer.summarize(block, truncate=True, **generation)]
            report(len(written))
        masses = [_mass(summarizer, document, own[0]) for document, own in zip(documents, references, strict=True)]
    return Reading(r, rouge(split(written), references), float(np.mean(masses)))


def _mass(summarizer: AbstractiveSummarizer, document: Document, reference: str) -> float:
    layers: list[NDArray[np.float32]] = [
        (one.attention * one.kept[:, None]).sum(dim=-1).mean(dim=(0, 1)).float().cpu().numpy()
        for one in observed(summarizer, document, " ".join(reference.split()))
    ]
    return float(np.mean(layers))
