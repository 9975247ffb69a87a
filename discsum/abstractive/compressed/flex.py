"""Strided blocks by FlexAttention, which on a GPU leaves out tiles that no query reads without copying keys."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any
from weakref import WeakKeyDictionary

import torch
from torch import Tensor
from torch.nn.attention.flex_attention import BlockMask, create_block_mask, flex_attention

from discsum.abstractive.compressed.blocks import BlockTables

# FlexAttention's kernels need heads at least as wide, and of a power of two.
NARROWEST = 16
# Masks of the passes that are running: all layers have the same.
_MASKS: WeakKeyDictionary[BlockTables, BlockMask] = WeakKeyDictionary()


def flex_takes(queries: Tensor, head_size: int, dropout: float) -> bool:
    """Return whether FlexAttention computes these: on a GPU, without dropout, which it does not have."""
    return queries.is_cuda and dropout == 0.0 and head_size >= NARROWEST and head_size & (head_size - 1) == 0


def flex_strided(
    queries: Tensor, keys: Tensor, values: Tensor, tables: BlockTables, scaling: float, *, compiled: bool = True
) -> Tensor:
    """Return attention `(documents, heads, tokens, head_size)` of each token to its block.

    Args:
        queries: `(documents, heads, tokens, head_size)`.
        keys: As queries.
        values: As queries.
        tables: The blocks.
        scaling: Factor of products.
        compiled: Whether to compile, without which all products are computed.
    """
    if tables not in _MASKS:
        documents, tokens = tables.mask.shape
        # Uncompiled, it is as large as (documents, tokens, tokens) while it is made.
        _MASKS[tables] = create_block_mask(
            _reads(tables), documents, None, tokens, tokens, device=queries.device, _compile=compiled
        )
    attend = _compiled() if compiled else flex_attention
    mixed: Tensor = attend(queries, keys, values, block_mask=_MASKS[tables], scale=scaling)
    return mixed.masked_fill(~tables.mask[:, None, :, None], 0.0) if tables.padded else mixed


def _reads(tables: BlockTables) -> Callable[[Tensor, Tensor, Tensor, Tensor], Tensor]:
    """Return the function of FlexAttention that says whether a query reads a key."""
    owners, starts, ends, mask = tables.owners, tables.bounds[..., 2], tables.bounds[..., 3], tables.mask

    def reads(document: Tensor, head: Tensor, query: Tensor, key: Tensor) -> Tensor:
        block = owners[document, query]
        return (key >= starts[document, block]) & (key < ends[document, block]) & mask[document, key]

    return reads


@lru_cache(maxsize=1)
def _compiled() -> Any:
    return torch.compile(flex_attention)
