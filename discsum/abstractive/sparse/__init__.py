"""Abstractive summarizers whose cross-attention reads selected sentences of a document (Manakul and Gales 2021)."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from discsum.abstractive.converted import from_pretrained
    from discsum.abstractive.layout import SentenceLayout
    from discsum.abstractive.sparse.collator import LayoutCollator
    from discsum.abstractive.sparse.conversion import densify, sparsify

# Imported on first use, so that listing the selectors does not import torch.
_HOMES = {
    "densify": "sparse.conversion",
    "from_pretrained": "converted",
    "sparsify": "sparse.conversion",
    "LayoutCollator": "sparse.collator",
    "SentenceLayout": "layout",
}

__all__ = ["LayoutCollator", "SentenceLayout", "densify", "from_pretrained", "sparsify"]


def __getattr__(name: str) -> Any:
    """Import a public name on first use."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"discsum.abstractive.{_HOMES[name]}"), name)
