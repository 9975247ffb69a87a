"""Attention and ROUGE by `r`, the sentences read at each step (Manakul and Gales 2021, figures 1, 2 and 4)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from discsum.abstractive.projections import decoder_layers
from discsum.abstractive.sparse.calls import Observation
from discsum.abstractive.summarizer import AbstractiveSummarizer
from discsum.abstractive.training.encoding import encode_whole
from discsum.document import Document
from discsum.metrics.rouge import METRICS, RougeScores, rouge


def retained_mass(
    summarizer: AbstractiveSummarizer,
    documents: Iterable[tuple[Document, str]],
    most: int,
    report: Callable[[int], None] = lambda done: None,
) -> NDArray[np.float64]:
    """Return `(layers, r)`: the mean share of attention on the top 1, 2, ... sentences, when forced to the references.

    Documents need sentences and are truncated to the model's positions; `report` receives the number of documents done.
    """
    sums, steps = np.zeros((len(decoder_layers(summarizer.model)), most)), 0
    for done, (document, reference) in enumerate(documents, start=1):
        found = record_attention(summarizer, document, reference)
        sums += retained(found, most)
        steps += found[0].kept.shape[1]
        report(done)
    return sums / max(1, steps)


def retained(observations: Sequence[Observation], most: int) -> NDArray[np.float64]:
    """Return `(layers, r)`: shares of attention on the top 1, 2, ... sentences, summed over the steps of a pass.

    Attention is averaged over heads first (appendix A.4).
    """
    sums = np.zeros((len(observations), most))
    for one in observations:
        # (documents, heads, queries, sentences) -> (documents * queries, sentences)
        heads = one.attention.detach().float().mean(dim=1).flatten(0, 1)
        best = torch.sort(heads, dim=-1, descending=True).values[:, :most].cumsum(dim=-1)
        # A document with fewer than `most` sentences retains everything beyond its last one.
        reached = torch.nn.functional.pad(best, (0, most - best.shape[1]), mode="replicate")
        sums[one.layer] = reached.sum(dim=0).cpu().numpy()
    return sums


@torch.inference_mode()
def record_attention(summarizer: AbstractiveSummarizer, document: Document, reference: str) -> list[Observation]:
    """Return each layer's cross-attention of a sparse model under teacher forcing with a reference, as in training.

    The document needs sentences, and a tree if the selector uses one. It is truncated to the model's positions.
    """
    model: Any = summarizer.model
    batch = encode_whole(summarizer.family, document, summarizer.family.target(reference)).to(model.device)
    found: list[Observation] = []
    with model.sparse.using(observer=found.append):
        model(**batch.inputs, **batch.extra)
    return found


@dataclass(frozen=True, eq=False)
class RougeAtR:
    """Figures of a system that reads `r` sentences at each step.

    Attributes:
        r: Number of sentences read at each step; None for all.
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

    Documents need sentences, and trees if the selector uses them. They are truncated to the model's positions. `split`
    splits summaries into one sentence per line, for ROUGE-Lsum; `report` receives the number of documents done.
    """
    written: list[str] = []
    with summarizer.model.sparse.using(r=r, dense_where_faster=False):
        for summary in summarizer.summarize_many(documents, **generation):
            written.append(summary.text)
            report(len(written))
        masses = [_mass(summarizer, document, own[0]) for document, own in zip(documents, references, strict=True)]
    return RougeAtR(r, rouge(split(written), references), float(np.mean(masses)))


def _mass(summarizer: AbstractiveSummarizer, document: Document, reference: str) -> float:
    layers: list[NDArray[np.float32]] = [
        (one.attention * one.kept[:, None]).sum(dim=-1).mean(dim=(0, 1)).float().cpu().numpy()
        for one in record_attention(summarizer, document, reference)
    ]
    return float(np.mean(layers))
