"""Encoding of documents and summaries as a training batch, and the noise of denoising pretraining."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from discsum.abstractive.family import IGNORED, Family, shifted_right
from discsum.document import Document, Span

# Noise after BART (Lewis et al. 2020, section 2.2): chance that a masked span begins before a word, and mean number of
# words in a span. A word is kept after each span, and spans end with their sentence, so 22 to 23% of the words are
# masked, not BART's 30%.
BEGINS, SPAN = 0.1, 3.0
# Limit in tokens of models that can read any number.
UNLIMITED = 1 << 30


@dataclass(frozen=True, eq=False)
class TextBatch:
    """Encoded documents and summaries.

    Attributes:
        inputs: `input_ids`, `attention_mask`, `decoder_input_ids` and `labels`, which are `IGNORED` at padding and at
            the end tokens of a truncated summary.
        extra: Extra arguments of the family; see `Family.inputs`.
    """

    inputs: dict[str, Tensor]
    extra: dict[str, Any]

    def to(self, device: torch.device) -> TextBatch:
        """Return the batch on a device."""
        inputs, extra = ({name: value.to(device) for name, value in part.items()} for part in (self.inputs, self.extra))
        return TextBatch(inputs, extra)


def encode(
    family: Family[Any], documents: Sequence[Document], targets: Sequence[str], source: int, target: int
) -> TextBatch:
    """Return a batch of documents, truncated to `source` tokens, and targets, truncated to `target` tokens.

    Raises:
        InputError: A slow tokenizer, or a document without sentences or without the tree that the model needs.
    """
    settings: dict[str, Any] = {"return_tensors": "pt", "padding": True, "truncation": True}
    encoding = family.tokenizer(family.texts(documents), max_length=source, **settings)
    written = family.tokenizer(text_target=list(targets), max_length=target, **settings)
    # First, because it refuses slow tokenizers, which have no `encodings`.
    extra = family.inputs(documents, encoding)
    inputs = {name: encoding[name] for name in ("input_ids", "attention_mask")}
    ids = family.target_ids(targets, written, documents, encoding)
    inputs["labels"] = ids.masked_fill(written["attention_mask"] == 0, IGNORED)
    # Before end tokens are ignored below: some models start decoding with the end token of the summary.
    inputs["decoder_input_ids"] = decoder_input(family.model, inputs["labels"])
    for labels, encoded in zip(inputs["labels"], written.encodings, strict=True):
        if encoded.overflowing:
            # The end tokens of a truncated summary would teach the model to stop in the middle.
            text = [position for position, special in enumerate(encoded.special_tokens_mask) if not special]
            labels[text[-1] + 1 if text else 0 :] = IGNORED
    return TextBatch(inputs, extra)


def decoder_input(model: Any, labels: Tensor) -> Tensor:
    """Return the decoder's input `(documents, steps)` for labels."""
    # Blenderbot and M2M100 have no method for it; that of mBART begins with a language's token.
    if not hasattr(model, "prepare_decoder_input_ids_from_labels"):
        return shifted_right(labels, model.config)
    ids: Tensor = model.prepare_decoder_input_ids_from_labels(labels)
    return ids


def encode_whole(family: Family[Any], document: Document, target: str) -> TextBatch:
    """Return a batch of a document and its summary, truncated only to the model's positions.

    Raises:
        InputError: As in `encode`.
    """
    # Not None: the tokenizer may have a limit of its own.
    limits = (limit or UNLIMITED for limit in (family.positions, family.target_positions))
    return encode(family, [document], [target], *limits)


def noised(
    document: Document, words: int, mask: str, random: np.random.Generator, *, shuffle: bool
) -> tuple[Document, str]:
    """Return a noised excerpt of a document, masked and optionally shuffled, and the excerpt's original text.

    The excerpt consists of consecutive sentences: at least one, and enough for `words` words if the document has them.
    """
    texts = [" ".join(text.split()) for text in document.sentence_texts]
    lengths = np.array([len(text.split()) for text in texts])
    # Draw the first sentence from those that have enough words up to the document's end.
    enough = np.flatnonzero(np.cumsum(lengths[::-1])[::-1] >= words)
    first = int(random.integers(len(enough))) if len(enough) else 0
    taken = 1 + int(np.searchsorted(np.cumsum(lengths[first:]), words))
    chosen = texts[first : first + taken]
    order = random.permutation(len(chosen)) if shuffle else range(len(chosen))
    parts = [_masked(chosen[place], mask, random) for place in order]
    ends = np.cumsum([len(part) + 1 for part in parts])
    sentences = tuple(Span(int(end) - 1 - len(part), int(end) - 1) for part, end in zip(parts, ends, strict=True))
    return Document(" ".join(parts), sentences, id=document.id), " ".join(chosen)


def _masked(text: str, mask: str, random: np.random.Generator) -> str:
    """Return a sentence with random spans of words replaced by one mask each."""
    words: list[str] = []
    rest = text.split()
    while rest:
        if random.random() < BEGINS:
            words.append(mask)
            rest = rest[int(random.poisson(SPAN)) :]
        if rest:
            words.append(rest.pop(0))
    return " ".join(words)
