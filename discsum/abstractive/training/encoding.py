"""Encoding of documents and summaries as a training batch."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from discsum.abstractive.family import IGNORED, Family
from discsum.document import Document


@dataclass(frozen=True, eq=False)
class TextBatch:
    """Encoded documents and summaries.

    Attributes:
        inputs: `input_ids`, `attention_mask`, `decoder_input_ids` and `labels`, which are `IGNORED` at padding and at
            the end tokens of a summary that is cut.
        extra: What the family adds to them.
    """

    inputs: dict[str, Tensor]
    extra: dict[str, Any]

    def to(self, device: torch.device) -> TextBatch:
        """Return the batch on a device."""
        inputs, extra = ({name: value.to(device) for name, value in part.items()} for part in (self.inputs, self.extra))
        return TextBatch(inputs, extra)


def encode(
    family: Family, documents: Sequence[Document], targets: Sequence[str], source: int, target: int
) -> TextBatch:
    """Return a batch.

    Args:
        family: The model, with a fast tokenizer.
        documents: With sentences, and with trees where the family needs them.
        targets: The text to be written of each.
        source: Maximum tokens of a document.
        target: Maximum tokens of a summary.

    Raises:
        InputError: A slow tokenizer, a document without sentences, or without the tree that is needed.
    """
    settings: dict[str, Any] = {"return_tensors": "pt", "padding": True, "truncation": True}
    encoding = family.tokenizer([document.text for document in documents], max_length=source, **settings)
    written = family.tokenizer(text_target=list(targets), max_length=target, **settings)
    inputs = {name: encoding[name] for name in ("input_ids", "attention_mask")}
    inputs["labels"] = written["input_ids"].masked_fill(written["attention_mask"] == 0, IGNORED)
    # Before labels are ignored: some models start from the token that ends a summary.
    inputs["decoder_input_ids"] = family.model.prepare_decoder_input_ids_from_labels(inputs["labels"])
    for labels, encoded in zip(inputs["labels"], written.encodings, strict=True):
        if encoded.overflowing:
            _open_end(labels, encoded.special_tokens_mask)
    return TextBatch(inputs, family.inputs(documents, encoding))


def _open_end(labels: Tensor, special: Sequence[int]) -> None:
    """Ignore the special tokens that end a cut summary: they would teach the model to stop in the middle."""
    text = [position for position, mark in enumerate(special) if not mark]
    labels[text[-1] + 1 if text else 0 :] = IGNORED
