"""Encoders with compressed self-attention: over convolved keys and values, or overlapping blocks (Yap et al.)."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from discsum.abstractive.compressed.conversion import compress, decompress
    from discsum.abstractive.converted import from_pretrained

# Imported on first use, so that listing the variants does not import torch.
_HOMES = {
    "compress": "compressed.conversion",
    "decompress": "compressed.conversion",
    "from_pretrained": "converted",
}

__all__ = ["compress", "decompress", "from_pretrained"]


def __getattr__(name: str) -> Any:
    """Import a public name on first use."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"discsum.abstractive.{_HOMES[name]}"), name)
