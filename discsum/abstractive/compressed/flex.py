"""Strided blocks by FlexAttention, which on a GPU skips tiles that no query reads, without copying keys.

Used on request only: on an H100 it took 3.6 to 11 times as long as stacked blocks (`tests/benchmarks/gpu.py`).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any
from warnings import warn
from weakref import WeakKeyDictionary

import torch
from torch import Tensor
from torch.nn.attention.flex_attention import BlockMask, create_block_mask, flex_attention

from discsum.abstractive.compressed.blocks import BlockTables
from discsum.errors import InputWarning

# Minimum head size of FlexAttention's kernels; it must also be a power of two.
NARROWEST = 16
# Why compilation failed in this process, if it did.
_FAILED: list[str] = []
# Masks of the running passes; all layers of a pass share one.
_MASKS: WeakKeyDictionary[BlockTables, BlockMask] = WeakKeyDictionary()


def flex_takes(queries: Tensor, head_size: int, dropout: float) -> bool:
    """Return whether FlexAttention can be used for `queries` `(documents, tokens, width)`.

    It needs a GPU and heads whose size is a power of two. It has no dropout, and is not tried again after a failed
    compilation.
    """
    suitable = head_size >= NARROWEST and head_size & (head_size - 1) == 0
    return not _FAILED and queries.is_cuda and suitable and dropout == 0.0


def compiled_strided(
    queries: Tensor, keys: Tensor, values: Tensor, tables: BlockTables, scaling: float
) -> Tensor | None:
    """Return `flex_strided`, compiled; None, with a warning, if it cannot be compiled here.

    Compilation needs a C compiler and Triton. After a failure, `flex_takes` returns False in this process. A failure in
    the backward pass is not caught.
    """
    # Importing it early would slow down the start of programs that never compile.
    from torch._dynamo.exc import TorchDynamoException

    try:
        return flex_strided(queries, keys, values, tables, scaling)
    except TorchDynamoException as error:
        _FAILED.append((str(error).splitlines() or [type(error).__name__])[0])
        warn(
            f"FlexAttention cannot be compiled here ({_FAILED[0]}); compressed encoders use stacked blocks instead, "
            "which give the same result and take more memory",
            InputWarning,
            stacklevel=2,
        )
        return None


def flex_strided(
    queries: Tensor, keys: Tensor, values: Tensor, tables: BlockTables, scaling: float, *, compiled: bool = True
) -> Tensor:
    """Return attention `(documents, heads, tokens, head_size)` of each token to its block.

    Args:
        queries: `(documents, heads, tokens, head_size)`.
        keys: As queries.
        values: As queries.
        tables: The blocks.
        scaling: Factor of the query-key products.
        compiled: Whether to compile FlexAttention, which otherwise computes all products.
    """
    if tables not in _MASKS:
        documents, tokens = tables.mask.shape
        # Uncompiled, this needs memory for (documents, tokens, tokens).
        _MASKS[tables] = create_block_mask(
            _reads(tables), documents, None, tokens, tokens, device=queries.device, _compile=compiled
        )
    attend = _compiled() if compiled else flex_attention
    mixed: Tensor = attend(queries, keys, values, block_mask=_MASKS[tables], scale=scaling)
    return mixed.masked_fill(~tables.mask[:, None, :, None], 0.0) if tables.padded else mixed


def _reads(tables: BlockTables) -> Callable[[Tensor, Tensor, Tensor, Tensor], Tensor]:
    """Return the mask function for FlexAttention: whether a query reads a key."""
    # Contiguous tensors, which FlexAttention's compiler needs: (documents, tokens) each.
    first, last = (tables.bounds[..., side].gather(1, tables.block_of_token) for side in (2, 3))
    mask = tables.mask.contiguous()

    def reads(document: Tensor, head: Tensor, query: Tensor, key: Tensor) -> Tensor:
        return (key >= first[document, query]) & (key < last[document, query]) & mask[document, key]

    return reads


@lru_cache(maxsize=1)
def _compiled() -> Any:
    return torch.compile(flex_attention)
