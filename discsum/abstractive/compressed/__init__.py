"""Encoders with compressed self-attention: over convolved keys and values, or overlapping blocks (Yap et al.)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from discsum.late_imports import on_first_use

if TYPE_CHECKING:
    from discsum.abstractive.compressed.conversion import compress, decompress
    from discsum.abstractive.converted import from_pretrained

# Listing the variants does not import torch.
if not TYPE_CHECKING:
    __getattr__ = on_first_use(
        __name__,
        {
            "compress": "discsum.abstractive.compressed.conversion",
            "decompress": "discsum.abstractive.compressed.conversion",
            "from_pretrained": "discsum.abstractive.converted",
        },
    )

__all__ = ["compress", "decompress", "from_pretrained"]
