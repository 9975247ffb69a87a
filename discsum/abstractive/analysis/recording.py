"""Looking on while a model reads out a reference."""

from __future__ import annotations

from typing import Any

import torch

from discsum.abstractive.sparse.conversion import sentences
from discsum.abstractive.sparse.state import Observation
from discsum.abstractive.summarizer import AbstractiveSummarizer
from discsum.abstractive.training.encoding import encode
from discsum.document import Document

NO_LIMIT = 1 << 30


@torch.inference_mode()
def observed(summarizer: AbstractiveSummarizer, document: Document, reference: str) -> list[Observation]:
    """Return what each layer attends to while a model reads out a reference, as it is set to read.

    Args:
        summarizer: Its model is one that `sparsify` changed.
        document: With sentences, and with a tree where the selector asks for one; what the model cannot read is cut.
        reference: What is read out.
    """
    model: Any = summarizer.model
    source, target = (limit or NO_LIMIT for limit in (summarizer.positions, summarizer.target_positions))
    prior = summarizer.selector.beta is not None
    batch = encode(model, summarizer.tokenizer, [document], [reference], source, target, prior=prior)
    batch = batch.to(model.device)
    found: list[Observation] = []
    model.sparse.observer = found.append
    try:
        with sentences(model, batch.layout):
            model(**batch.inputs)
    finally:
        model.sparse.observer = None
    return found
