"""Cached cross-attention of one layer: keys and values, or encoder states, and attention to some of the tokens."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from discsum.abstractive.sparse.layout import SentenceLayout


@dataclass(frozen=True, eq=False)
class LayerDocuments:
    """Keys and values `(documents, heads, tokens, head_size)` of one layer, and the result of `Selector.summarise`."""

    layout: SentenceLayout | None
    keys: Tensor
    values: Tensor
    summary: tuple[Tensor, ...]

    @property
    def tensors(self) -> tuple[Tensor, ...]:
        """All cached tensors."""
        return (self.keys, self.values, *self.summary)

    def attend(self, queries: Tensor, document: int, tokens: Tensor | slice, scale: float) -> Tensor:
        """Return attention of queries to tokens of a document, both `(heads, queries, head_size)`."""
        keys, values = self.keys[document], self.values[document]
        if isinstance(tokens, slice):
            keys, values = keys[:, tokens], values[:, tokens]
        else:
            keys, values = keys.index_select(1, tokens), values.index_select(1, tokens)
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
        key: `(heads, head_size, width)` the map to keys.
        value: `(heads, head_size, width)` the map to values.
        bias: `(heads, 1, head_size)` of values.
    """

    layout: SentenceLayout | None
    states: Tensor
    summary: tuple[Tensor, ...]
    key: Tensor
    value: Tensor
    bias: Tensor | None

    @classmethod
    def of(
        cls, layout: SentenceLayout, states: Tensor, summary: tuple[Tensor, ...], heads: int, key: Any, value: Any
    ) -> StateDocuments:
        """Return the documents of a layer whose projections are two linear modules."""
        to_keys, to_values = (module.weight.view(heads, -1, states.shape[-1]) for module in (key, value))
        bias = None if value.bias is None else value.bias.view(heads, 1, -1)
        return cls(layout, states, summary, to_keys, to_values, bias)

    @property
    def tensors(self) -> tuple[Tensor, ...]:
        """All cached tensors."""
        return (self.states, *self.summary)

    def attend(self, queries: Tensor, document: int, tokens: Tensor | slice, scale: float) -> Tensor:
        """Return attention of queries to tokens of a document, both `(heads, queries, head_size)`."""
        states = self.states[document]
        states = states[tokens] if isinstance(tokens, slice) else states.index_select(0, tokens)
        projected = torch.bmm(queries, self.key)
        found = nn.functional.scaled_dot_product_attention(projected.flatten(0, 1), states, states, scale=scale)
        mixed = torch.bmm(found.view(projected.shape), self.value.transpose(1, 2))
        return mixed if self.bias is None else mixed + self.bias
