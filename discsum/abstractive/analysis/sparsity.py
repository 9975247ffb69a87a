"""How sparse a model's cross-attention is over a corpus: forward passes over texts and their references."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import torch

from discsum.abstractive.analysis.retained_mass import RetainedMass
from discsum.abstractive.attention import Observation
from discsum.abstractive.layout import SentenceLayout
from discsum.abstractive.sparsify import sentences
from discsum.abstractive.summarizer import AbstractiveSummarizer
from discsum.document import Document


@torch.inference_mode()
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
    model, tokenizer, limit = summarizer.model, summarizer.tokenizer, summarizer.positions
    mass = RetainedMass(len(model.get_decoder().layers), most)
    cut: dict[str, Any] = {"return_tensors": "pt", "truncation": limit is not None, "max_length": limit}
    for done, (document, reference) in enumerate(documents, start=1):
        encoding = tokenizer([document.text], **cut)
        labels = tokenizer([reference], **cut)["input_ids"].to(model.device)
        found: list[Observation] = []
        layout = SentenceLayout.from_documents([document], encoding)
        model.sparse.observer = found.append
        try:
            with sentences(model, layout):
                model(
                    input_ids=encoding["input_ids"].to(model.device),
                    attention_mask=encoding["attention_mask"].to(model.device),
                    labels=labels,
                )
        finally:
            model.sparse.observer = None
        mass.add(found, torch.ones_like(labels, dtype=torch.bool))
        report(done)
    return mass
