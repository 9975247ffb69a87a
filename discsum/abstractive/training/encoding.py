"""Documents and summaries as what a sequence-to-sequence model is trained on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from discsum.abstractive.layout import SentenceLayout
from discsum.abstractive.training.objective import IGNORED
from discsum.document import Document


@dataclass(frozen=True, eq=False)
class TextBatch:
    """Encoded documents and summaries.

    Attributes:
        inputs: `input_ids`, `attention_mask` and `labels`, which are `IGNORED` where padded.
        layout: The documents' sentences.
    """

    inputs: dict[str, Tensor]
    layout: SentenceLayout

    def to(self, device: torch.device) -> TextBatch:
        """Return the batch on a device."""
        return TextBatch({name: value.to(device) for name, value in self.inputs.items()}, self.layout.to(device))


def encode(
    tokenizer: Any, documents: Sequence[Document], targets: Sequence[str], source: int, target: int, *, prior: bool
) -> TextBatch:
    """Return a batch.

    Args:
        tokenizer: A fast one.
        documents: With sentences, and with trees where there is a prior.
        targets: What is to be written of each.
        source: Tokens of a document, at most.
        target: Tokens of a summary, at most.
        prior: Whether the layout has the discourse prior.

    Raises:
        InputError: A slow tokenizer, a document without sentences, or without the tree that is needed.
    """
    settings: dict[str, Any] = {"return_tensors": "pt", "padding": True, "truncation": True}
    encoding = tokenizer([document.text for document in documents], max_length=source, **settings)
    written = tokenizer(text_target=list(targets), max_length=target, **settings)
    layout = SentenceLayout.from_documents(documents, encoding)
    inputs = {name: encoding[name] for name in ("input_ids", "attention_mask")}
    inputs["labels"] = written["input_ids"].masked_fill(written["attention_mask"] == 0, IGNORED)
    return TextBatch(inputs, layout.with_prior(documents) if prior else layout)
