"""Share of attention that the top r sentences retain (Manakul and Gales 2021, figure 1)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from discsum.abstractive.sparse.conversion import sentences
from discsum.abstractive.sparse.state import Observation
from discsum.abstractive.summarizer import AbstractiveSummarizer
from discsum.abstractive.training.encoding import encode
from discsum.document import Document

UNLIMITED = 1 << 30


class RetainedMass:
    """Means, over documents and steps, of the attention to the r sentences with most attention.

    Attention is averaged over heads first (appendix A.4).

    Attributes:
        sums: `(layers, r)` sums over steps.
        steps: Number of steps added.
    """

    def __init__(self, layers: int, most: int) -> None:
        """Start without steps, for r from 1 to `most`."""
        self.sums = np.zeros((layers, most))
        self.steps = 0

    def add(self, observations: Sequence[Observation], steps: Tensor) -> None:
        """Add one forward pass; `steps` `(documents, queries)` is true for the steps that count."""
        most = self.sums.shape[1]
        for one in observations:
            heads = one.attention.detach().float().mean(dim=1)[steps.bool()]
            best = torch.sort(heads, dim=-1, descending=True).values[:, :most].cumsum(dim=-1)
            # A document of fewer than `most` sentences retains everything from there on.
            reached = torch.nn.functional.pad(best, (0, most - best.shape[1]), mode="replicate")
            self.sums[one.layer] += reached.sum(dim=0).cpu().numpy()
        self.steps += int(steps.bool().sum())

    @property
    def curves(self) -> NDArray[np.float64]:
        """`(layers, r)`: mean share of attention on the top 1, 2, ... sentences."""
        return self.sums / max(1, self.steps)


def retained_mass(
    summarizer: AbstractiveSummarizer,
    documents: Iterable[tuple[Document, str]],
    most: int,
    report: Callable[[int], None] = lambda done: None,
) -> RetainedMass:
    """Return the retained attention of a model under teacher forcing with the references.

    Args:
        summarizer: A sparse model.
        documents: Documents with sentences, each with its reference; cut at the model's positions.
        most: Largest r.
        report: Receives the number of documents done.
    """
    mass = RetainedMass(len(summarizer.model.get_decoder().layers), most)
    for done, (document, reference) in enumerate(documents, start=1):
        found = record_attention(summarizer, document, reference)
        mass.add(found, torch.ones(found[0].kept.shape[:2], dtype=torch.bool))
        report(done)
    return mass


@torch.inference_mode()
def record_attention(summarizer: AbstractiveSummarizer, document: Document, reference: str) -> list[Observation]:
    """Return each layer's cross-attention under teacher forcing with a reference, by the selector and `r` of the model.

    Args:
        summarizer: A sparse model.
        document: With sentences, and with a tree where the selector needs one; cut at the model's positions.
        reference: The summary whose tokens are forced.
    """
    model: Any = summarizer.model
    source, target = (limit or UNLIMITED for limit in (summarizer.positions, summarizer.target_positions))
    batch = encode(summarizer.family, [document], [reference], source, target).to(model.device)
    found: list[Observation] = []
    model.sparse.observer = found.append
    try:
        with sentences(model, batch.extra["layout"]):
            model(**batch.inputs)
    finally:
        model.sparse.observer = None
    return found
