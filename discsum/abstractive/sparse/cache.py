"""The decoder's cache: self-attention for each beam, cross-attention once for all beams of a document."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from transformers import DynamicCache, EncoderDecoderCache

from discsum.abstractive.sparse.layout import SentenceLayout


@dataclass(frozen=True, eq=False)
class LayerDocuments:
    """Keys and values `(documents, heads, tokens, head_size)` of one layer, and the result of `Selector.summarise`."""

    layout: SentenceLayout | None
    keys: Tensor
    values: Tensor
    summary: tuple[Tensor, ...]

    def attend(self, queries: Tensor, document: int, tokens: Tensor | slice, scale: float) -> Tensor:
        """Return attention of queries to tokens of a document, both `(heads, queries, head_size)`."""
        keys, values = (_of_tokens(part[document], tokens) for part in (self.keys, self.values))
        return nn.functional.scaled_dot_product_attention(queries, keys, values, scale=scale)


@dataclass(frozen=True, eq=False)
class StateDocuments:
    """Encoder states of the documents in place of keys and values, which are never computed.

    With `k_j = W h_j + b`, `q . k_j` is `(W' q) . h_j` and a term that is the same for every token, which the softmax
    cancels; and the sum of `p_j v_j` is `V sum_j p_j h_j + c`. A step reads the states of its sentences, the
    same states in all layers. It multiplies more than with cached keys but saves computing them, which pays off as
    long as a step reads a small part of a document.

    Attributes:
        states: `(documents, tokens, width)` encoder states.
        summary: Result of `Selector.summarise`.
        key: The linear map to keys.
        value: The linear map to values.
    """

    layout: SentenceLayout
    states: Tensor
    summary: tuple[Tensor, ...]
    key: nn.Linear
    value: nn.Linear

    def attend(self, queries: Tensor, document: int, tokens: Tensor | slice, scale: float) -> Tensor:
        """Return attention of queries to tokens of a document, both `(heads, queries, head_size)`."""
        states, heads = _of_tokens(self.states[document], tokens), len(queries)
        # (heads, head_size, width)
        to_keys, to_values = (module.weight.view(heads, -1, states.shape[-1]) for module in (self.key, self.value))
        projected = torch.bmm(queries, to_keys)
        found = nn.functional.scaled_dot_product_attention(projected.flatten(0, 1), states, states, scale=scale)
        mixed = torch.bmm(found.view(projected.shape), to_values.transpose(1, 2))
        return mixed if self.value.bias is None else mixed + self.value.bias.view(heads, 1, -1)


def _of_tokens(values: Tensor, tokens: Tensor | slice) -> Tensor:
    """Return the `(..., tokens, size)` values of some tokens; a slice is not copied."""
    return values[..., tokens, :] if isinstance(tokens, slice) else values.index_select(-2, tokens)


class SparseCrossCache(EncoderDecoderCache):
    """The cache of `generate`: reordering beams touches self-attention only, documents are never copied.

    Attributes:
        documents: By layer, keys and values (or states) of the documents.
    """

    def __init__(self, config: Any) -> None:
        """Make an empty cache for a model's configuration."""
        decoder = config.get_text_config(decoder=True)
        # The cross-attention cache of transformers stays empty.
        super().__init__(DynamicCache(config=decoder), DynamicCache(config=decoder))
        self.documents: dict[int, LayerDocuments | StateDocuments] = {}

    @property
    def cross_bytes(self) -> int:
        """Memory of the cross-attention cache, in bytes."""
        fields = [value for layer in self.documents.values() for value in vars(layer).values()]
        fields += [part for value in fields if isinstance(value, tuple) for part in value]
        tensors = (value for value in fields if isinstance(value, Tensor))
        # Layers may share encoder states, which count once.
        return sum({tensor.data_ptr(): tensor.untyped_storage().nbytes() for tensor in tensors}.values())

    def reset(self) -> None:
        """Empty the cache."""
        super().reset()  # type: ignore[no-untyped-call]
        self.documents.clear()
