"""ROUGE and retained attention as functions of `r`, the sentences read at each step (figures 2 and 4)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discsum.abstractive.analysis.retained_mass import record_attention
from discsum.abstractive.sparse.conversion import exactly
from discsum.abstractive.summarizer import AbstractiveSummarizer
from discsum.batches import batches
from discsum.document import Document
from discsum.metrics.rouge import METRICS, RougeScores, rouge

BATCH = 8


@dataclass(frozen=True, eq=False)
class RougeAtR:
    """Figures of a system that reads `r` sentences at each step.

    Attributes:
        r: Sentences read at each step; none for all.
        rouge: ROUGE of its summaries.
        mass: Share of attention on the selected sentences under teacher forcing: mean over heads, steps and layers,
            each document with the same weight.
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


def rouge_at_r(
    summarizer: AbstractiveSummarizer,
    documents: Sequence[Document],
    references: Sequence[Sequence[str]],
    r: int | None,
    split: Callable[[Sequence[str]], list[str]],
    report: Callable[[int], None] = lambda done: None,
    **generation: Any,
) -> RougeAtR:
    """Return the figures of a system when it reads `r` sentences at each step.

    Args:
        summarizer: The system.
        documents: With sentences, and with trees where the selector needs them; cut at the model's positions.
        references: Reference summaries of each document.
        r: Sentences read at each step; none for all.
        split: Splits summaries into one sentence per line, for ROUGE-Lsum.
        report: Receives the number of documents done.
        generation: Options of `generate`.
    """
    written: list[str] = []
    with exactly(summarizer.model, r):
        for block in batches(documents, BATCH):
            written += [one.text for one in summarizer.summarize(block, **generation)]
            report(len(written))
        masses = [_mass(summarizer, document, own[0]) for document, own in zip(documents, references, strict=True)]
    return RougeAtR(r, rouge(split(written), references), float(np.mean(masses)))


def _mass(summarizer: AbstractiveSummarizer, document: Document, reference: str) -> float:
    layers: list[NDArray[np.float32]] = [
        (one.attention * one.kept[:, None]).sum(dim=-1).mean(dim=(0, 1)).float().cpu().numpy()
        for one in record_attention(summarizer, document, " ".join(reference.split()))
    ]
    return float(np.mean(layers))
