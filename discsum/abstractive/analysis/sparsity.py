"""How sparse a model's cross-attention is over a corpus: forward passes over texts and their references."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import torch

from discsum.abstractive.analysis.recording import observed
from discsum.abstractive.analysis.retained_mass import RetainedMass
from discsum.abstractive.summarizer import AbstractiveSummarizer
from discsum.document import Document


def retained_mass(
    summarizer: AbstractiveSummarizer,
    documents: Iterable[tuple[Document, str]],
    most: int,
    report: Callable[[int], None] = lambda done: None,
) -> RetainedMass:
    """Return how much attention the best sentences hold while the model reads out references.

    Args:
        summarizer: A model that `sparsify` changed.
        documents: Documents with sentences, each with its reference; what the model cannot read of them is cut.
        most: Up to how many sentences.
        report: Takes the number of documents done.
    """
    mass = RetainedMass(len(summarizer.model.get_decoder().layers), most)
    for done, (document, reference) in enumerate(documents, start=1):
        found = observed(summarizer, document, reference)
        mass.add(found, torch.ones(found[0].kept.shape[:2], dtype=torch.bool))
        report(done)
    return mass
