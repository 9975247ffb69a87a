"""Copy attention and its gate, and ids for words of the text that the vocabulary lacks.

After See et al. 2017 (section 2.2) and OpenNMT's copy generator, which Yap et al. use. Copy attention is separate from
cross-attention, so that it does not depend on what the decoder's layers return.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, nn

from discsum.abstractive.vocabulary import unknown_id

if TYPE_CHECKING:
    from transformers import BatchEncoding

# Called with the attention `(rows, tokens)` of the last step of each forward pass.
Observer = Callable[[Tensor], None]
_OBSERVER: ContextVar[Observer | None] = ContextVar("observer of copy attention", default=None)


@contextmanager
def observing(observer: Observer) -> Iterator[None]:
    """Pass copy attention to an observer within a block, in this thread or task only."""
    token = _OBSERVER.set(observer)
    try:
        yield
    finally:
        _OBSERVER.reset(token)


class CopyAttention(nn.Module):
    """Attention that gives the probability of copying each token of the text, and the gate that mixes them in."""

    def __init__(self, width: int) -> None:
        """Build the projections for states of `width`."""
        super().__init__()
        self.query = nn.Linear(width, width, bias=False)
        self.gate = nn.Linear(width, 1)

    def forward(self, states: Tensor, encoded: Tensor, readable: Tensor) -> tuple[Tensor, Tensor]:
        """Return attention `(rows, steps, tokens)` and the probability of copying `(rows, steps, 1)`, in float32.

        A row without a readable token copies nothing.

        Args:
            states: `(rows, steps, width)` of the decoder.
            encoded: `(rows, tokens, width)` of the encoder.
            readable: `(rows, tokens)`, true for tokens that may be copied.
        """
        products = (self.query(states) @ encoded.transpose(1, 2)).float() * encoded.shape[-1] ** -0.5
        lowest = torch.finfo(products.dtype).min
        attention = torch.softmax(products.masked_fill(~readable[:, None], lowest), dim=-1)
        observer = _OBSERVER.get()
        if observer is not None:
            observer(attention[:, -1] * readable)
        gate = torch.sigmoid(self.gate(states).float())
        return attention, gate * readable.any(dim=-1)[:, None, None]


def unknown_words(tokenizer: Any, texts: Sequence[str], encoding: BatchEncoding) -> list[dict[str, int]]:
    """Return, for each text, the normalised words that the vocabulary lacks, with their extended ids."""
    found: list[dict[str, int]] = []
    for text, encoded in zip(texts, encoding.encodings or (), strict=True):
        words: dict[str, int] = {}
        for word in _unknown(tokenizer, text, encoded).values():
            words.setdefault(word, len(tokenizer) + len(words))
        found.append(words)
    return found


def extended_ids(
    tokenizer: Any, texts: Sequence[str], encoding: BatchEncoding, words: Sequence[dict[str, int]]
) -> Tensor:
    """Return ids `(texts, tokens)` of the extended vocabulary, in which each text's `words` have ids of their own."""
    ids: Tensor = encoding["input_ids"].clone()
    for row, text, encoded, own in zip(ids, texts, encoding.encodings or (), words, strict=True):
        for place, word in _unknown(tokenizer, text, encoded).items():
            row[place] = own.get(word, row[place])
    return ids


def decoded(tokenizer: Any, generated: Tensor, words: Sequence[dict[str, int]]) -> list[str]:
    """Decode generated ids `(rows, steps)` of the extended vocabulary; `words` are the unknown words of each row."""
    texts = []
    for row, own in zip(generated.tolist(), words, strict=True):
        names = {index: word for word, index in own.items()}
        parts: list[str] = []
        known: list[int] = []
        for token in [*row, None]:
            if token is not None and token not in names:
                known.append(token)
                continue
            parts.append(tokenizer.decode(known, skip_special_tokens=True, clean_up_tokenization_spaces=False))
            parts.append(names[token] if token is not None else "")
            known = []
        text = " ".join(part.strip() for part in parts if part.strip())
        # Join words and punctuation marks as `batch_decode` does. Byte-level tokenizers have no unknown token.
        texts.append(tokenizer.clean_up_tokenization(text) if unknown_id(tokenizer) is not None else text)
    return texts


def _unknown(tokenizer: Any, text: str, encoded: Any) -> dict[int, str]:
    """Return the normalised word at each position of the unknown token."""
    unknown = unknown_id(tokenizer)
    if unknown is None or unknown not in encoded.ids:
        return {}
    normalizer = tokenizer.backend_tokenizer.normalizer
    found = {}
    for place, (token, (start, end)) in enumerate(zip(encoded.ids, encoded.offsets, strict=True)):
        if token == unknown and end > start:
            word = text[start:end].strip()
            found[place] = normalizer.normalize_str(word) if normalizer is not None else word
    return found
