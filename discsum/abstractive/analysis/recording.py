"""Record cross-attention under teacher forcing."""

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
def record_attention(summarizer: AbstractiveSummarizer, document: Document, reference: str) -> list[Observation]:
    """Return each layer's cross-attention under teacher forcing with a reference, by the selector and `r` of the model.

    Args:
        summarizer: A sparse model.
        document: With sentences, and with a tree where the selector needs one; cut at the model's positions.
        reference: The summary whose tokens are forced.
    """
    model: Any = summarizer.model
    source, target = (limit or NO_LIMIT for limit in (summarizer.positions, summarizer.target_positions))
    batch = encode(summarizer.family, [document], [reference], source, target).to(model.device)
    found: list[Observation] = []
    model.sparse.observer = found.append
    try:
        with sentences(model, batch.extra["layout"]):
            model(**batch.inputs)
    finally:
        model.sparse.observer = None
    return found
