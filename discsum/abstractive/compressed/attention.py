"""Self-attention of a compressed encoder (Yap et al., section 3.3)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from torch.nn.functional import scaled_dot_product_attention

from discsum.abstractive.compressed.blocks import BlockTables
from discsum.abstractive.compressed.calls import CompressionSettings
from discsum.abstractive.compressed.convolution import KeyValueConvolution
from discsum.abstractive.projections import Projections
from discsum.errors import InputError


@dataclass(eq=False)
class CompressedSelfAttention:
    """Replacement for the forward pass of an encoder's self-attention module; see `compress`.

    It uses the module's projections, which keep their names. Each query is computed only in the block that keeps it.
    All blocks of all documents are stacked in the batch dimension of one attention call. This copies keys, but
    FlexAttention, which does not, took 3.6 to 11 times as long on an H100.
    """

    projections: Projections
    settings: CompressionSettings

    def __call__(self, hidden_states: Tensor, *arguments: Any, **given: Any) -> tuple[Any, ...]:
        """Return what the module's own forward pass returns, without attention weights."""
        module, tables = self.projections.module, self.settings.call.tables
        if tables is None:
            raise InputError(
                "expected the self-attention of a compressed encoder to be called within it, got a call from outside"
            )
        queries = self.projections.query(hidden_states)
        convolution: KeyValueConvolution | None = getattr(module, "compression", None)
        keys, values, inside = self._read(hidden_states, convolution, tables)
        stacked = queries.view(*tables.queries.shape, -1) if tables.even else _stacked(queries, tables.queries)
        mixed = scaled_dot_product_attention(
            self._heads(stacked),
            self._heads(keys),
            self._heads(values),
            attn_mask=_mask_of(inside),
            dropout_p=module.dropout if module.training else 0.0,
            scale=self.projections.scaling,
        )
        # (documents * blocks, heads, queries, head_size) -> (documents, tokens, width)
        result = _unstacked(mixed.transpose(1, 2).flatten(2), tables)
        return self.projections.names.outputs(self.projections.output(result), None, given)

    def _read(
        self, states: Tensor, convolution: KeyValueConvolution | None, tables: BlockTables
    ) -> tuple[Tensor, Tensor, Tensor | None]:
        """Return keys and values `(documents * blocks, keys, width)`, and a mask of those that exist."""
        key, value = self.projections.key, self.projections.value
        if convolution is None:
            return _stacked(key(states), tables.keys), _stacked(value(states), tables.keys), tables.inside
        # Eq 3: convolve before projecting to heads.
        for_keys, for_values, inside = convolution(_stacked(states, tables.keys), tables.inside)
        return key(for_keys), value(for_values), inside

    def _heads(self, states: Tensor) -> Tensor:
        """Reshape `(rows, tokens, heads * head_size)` to `(rows, heads, tokens, head_size)`."""
        return torch.unflatten(states, -1, (self.projections.heads, -1)).transpose(1, 2)


def _stacked(states: Tensor, rows: Tensor) -> Tensor:
    """Stack the blocks: return `(documents * blocks, tokens of a block, width)` from `(documents, tokens, width)`."""
    return states.flatten(0, 1).index_select(0, rows.flatten()).view(*rows.shape, -1)


def _unstacked(mixed: Tensor, tables: BlockTables) -> Tensor:
    """Undo `_stacked` for the queries: return `(documents, tokens, width)`, 0 for padding."""
    flat = mixed.flatten(0, 1)
    if not tables.even:
        flat = flat.index_select(0, tables.places)
    if tables.padded:
        flat = flat.masked_fill(~tables.mask.flatten()[:, None], 0.0)
    return flat.view(*tables.mask.shape, -1)


def _mask_of(inside: Tensor | None) -> Tensor | None:
    """Return the mask `(documents * blocks, 1, 1, keys)` of keys; None if all exist."""
    if inside is None:
        return None
    # A block without keys keeps no queries either; let it read anything, so that its softmax stays finite.
    return (inside | ~inside.any(dim=-1, keepdim=True))[:, None, None, :]
