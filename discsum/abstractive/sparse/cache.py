"""The decoder's cache: self-attention for each beam, cross-attention once for all beams of a document."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from transformers import DynamicCache, EncoderDecoderCache
from transformers.cache_utils import DynamicLayer

from discsum.abstractive.sentence_layout import SentenceLayout


@dataclass(frozen=True, eq=False)
class LayerDocuments:
    """Keys and values `(documents, heads, tokens, head_size)` of one layer.

    Attributes:
        summary: Result of `Selector.summarise`; None if no sentence is selected.
    """

    layout: SentenceLayout | None
    keys: Tensor
    values: Tensor
    summary: tuple[Tensor, ...] | None = None

    @property
    def length(self) -> int:
        """Tokens of the longest document."""
        return self.keys.shape[-2]

    def projected(self) -> tuple[Tensor, Tensor]:
        """Return the keys and values."""
        return self.keys, self.values

    def attend(self, queries: Tensor, document: int, tokens: Tensor | slice, scale: float) -> Tensor:
        """Attend from `queries` to tokens of a document; queries and result are `(heads, queries, head_size)`."""
        keys, values = (_of_tokens(part[document], tokens) for part in (self.keys, self.values))
        return nn.functional.scaled_dot_product_attention(queries, keys, values, scale=scale)


@dataclass(frozen=True, eq=False)
class StateDocuments:
    """Encoder states of the documents in place of keys and values, which are never computed.

    With `k_j = W h_j + b`, `q . k_j` is `(W' q) . h_j` plus a term that is the same for every token and that softmax
    cancels. Likewise the sum of `p_j v_j` is `V sum_j p_j h_j + c`. A step reads the states of its sentences, which are
    the same in all layers. This takes more multiplications per step than cached keys and values, but saves computing
    them, which pays off as long as a step reads a small part of a document.

    Attributes:
        states: `(documents, tokens, width)` encoder states.
        summary: Result of `Selector.summarise`.
        key: The linear map to keys.
        value: The linear map to values.
        heads: Number of heads.
    """

    layout: SentenceLayout
    states: Tensor
    summary: tuple[Tensor, ...] | None
    key: nn.Linear
    value: nn.Linear
    heads: int

    @property
    def length(self) -> int:
        """Tokens of the longest document."""
        return self.states.shape[-2]

    def projected(self) -> tuple[Tensor, Tensor]:
        """Return the keys and values, computed for this call."""
        keys, values = (
            torch.unflatten(module(self.states), -1, (self.heads, -1)).transpose(1, 2)
            for module in (self.key, self.value)
        )
        return keys, values

    def attend(self, queries: Tensor, document: int, tokens: Tensor | slice, scale: float) -> Tensor:
        """Attend from `queries` to tokens of a document; queries and result are `(heads, queries, head_size)`."""
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


class DocumentLayer(DynamicLayer):  # type: ignore[no-untyped-call]
    """One layer of a `DocumentCache`, which builds `keys` and `values` of all rows only when they are read.

    Attributes:
        documents: Keys and values (or states) of the documents; None after a reset.
        copies: Number of rows of each document.
    """

    def __init__(self, documents: LayerDocuments | StateDocuments | None = None, copies: int = 1) -> None:
        """Store a layer's documents but, unlike the base class, no keys."""
        self.documents, self.copies = documents, copies
        self.is_initialized = documents is not None

    def __getattr__(self, name: str) -> Any:
        """Return `keys` or `values`, `(rows, heads, tokens, head_size)`."""
        if name not in ("keys", "values"):
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        if self.documents is None:
            return None
        return self.documents.projected()[name == "values"].repeat_interleave(self.copies, dim=0)

    def get_seq_length(self) -> int:
        """Return the tokens of the documents."""
        return 0 if self.documents is None else self.documents.length

    def reset(self) -> None:
        """Forget the documents."""
        self.documents, self.is_initialized = None, False

    def reorder_cache(self, beam_idx: Tensor) -> None:
        """Do nothing: beams only change places within their document."""

    def crop(self, tokens_to_remove: int) -> None:
        """Do nothing: only generated tokens are cropped."""

    def batch_repeat_interleave(self, repeats: int) -> None:
        """Forget the documents; the next step rebuilds them from the encoder's states."""
        self.reset()

    def batch_select_indices(self, indices: Tensor) -> None:
        """Forget the documents; the next step rebuilds them from the encoder's states."""
        self.reset()


class DocumentCache(DynamicCache):
    """The cross-attention part of a decoder's cache: one copy of each document, which reordering beams does not touch.

    It replaces `cross_attention_cache` in the cache that a sparse model is called with.
    """

    layers: list[DocumentLayer]  # type: ignore[assignment]

    @classmethod
    def of(cls, cache: Any) -> DocumentCache | None:
        """Return the document cache of a decoder's cache, installed on first use; None without a decoder's cache."""
        if not isinstance(cache, EncoderDecoderCache):
            return None
        if not isinstance(cache.cross_attention_cache, cls):
            cache.cross_attention_cache = cls()
        return cache.cross_attention_cache

    def get(self, layer: int) -> LayerDocuments | StateDocuments | None:
        """Return a layer's documents; None if there are none."""
        return self.layers[layer].documents if layer < len(self.layers) else None

    def put(self, layer: int, documents: LayerDocuments | StateDocuments, copies: int) -> None:
        """Keep a layer's documents, with the number of rows of each."""
        self.layers.extend(DocumentLayer() for _ in range(layer + 1 - len(self.layers)))
        self.layers[layer] = DocumentLayer(documents, copies)

    @property
    def bytes(self) -> int:
        """Memory of the documents in bytes; encoder states that layers share count once."""
        fields = [value for one in self.layers if one.documents for value in vars(one.documents).values()]
        fields += [part for value in fields if isinstance(value, tuple) for part in value]
        tensors = (value for value in fields if isinstance(value, Tensor))
        return sum({tensor.data_ptr(): tensor.untyped_storage().nbytes() for tensor in tensors}.values())
