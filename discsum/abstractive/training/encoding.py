"""Documents and summaries as what a sequence-to-sequence model is trained on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from discsum.abstractive.sparse.layout import SentenceLayout
from discsum.abstractive.training.objective import IGNORED
from discsum.document import Document


@dataclass(frozen=True, eq=False)
class TextBatch:
    """Encoded documents and summaries.

    Attributes:
        inputs: `input_ids`, `attention_mask`, `decoder_input_ids` and `labels`, which are `IGNORED` where padded and
            where a summary that is cut would end.
        layout: The documents' sentences.
    """

    inputs: dict[str, Tensor]
    layout: SentenceLayout

    def to(self, device: torch.device) -> TextBatch:
        """Return the batch on a device."""
        return TextBatch({name: value.to(device) for name, value in self.inputs.items()}, self.layout.to(device))


def encode(
    model: Any,
    tokenizer: Any,
    documents: Sequence[Document],
    targets: Sequence[str],
    source: int,
    target: int,
    *,
    prior: bool,
) -> TextBatch:
    """Return a batch.

    Args:
        model: Which it is for: it knows how its summaries begin.
        tokenizer: Its own, a fast one.
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
    # Of whole labels: some models begin with what a summary ends with.
    inputs["decoder_input_ids"] = model.prepare_decoder_input_ids_from_labels(inputs["labels"])
    for labels, encoded in zip(inputs["labels"], written.encodings, strict=True):
        if encoded.overflowing:
            _open_end(labels, encoded.special_tokens_mask)
    return TextBatch(inputs, layout.with_prior(documents) if prior else layout)


def _open_end(labels: Tensor, special: Sequence[int]) -> None:
    """Ignore the special tokens that end a cut summary: it would teach the model to stop in the middle."""
    text = [position for position, mark in enumerate(special) if not mark]
    labels[text[-1] + 1 if text else 0 :] = IGNORED
