"""Encoders whose self-attention reads less: convolved keys and values, or overlapping blocks (Yap et al.)."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from discsum.abstractive.compressed.conversion import compress, decompress
    from discsum.abstractive.compressed.folder import from_pretrained

# Imported on first use: names of variants must not need torch.
_HOMES = {"compress": "conversion", "decompress": "conversion", "from_pretrained": "folder"}

__all__ = ["compress", "decompress", "from_pretrained"]


def __getattr__(name: str) -> Any:
    """Import a public name on first use."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
