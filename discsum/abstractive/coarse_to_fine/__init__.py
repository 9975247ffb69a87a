"""Coarse-to-fine attention: a decoder chooses a chunk of the text, then reads its words (Ling and Rush 2017).

Importing the model class registers it with `AutoConfig` and `AutoModelForSeq2SeqLM` of transformers.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from discsum.abstractive.coarse_to_fine.config import CoarseToFineConfig
    from discsum.abstractive.coarse_to_fine.model import CoarseToFineForConditionalGeneration

# Imported on first use, so that importing this package does not import torch.
_HOMES = {"CoarseToFineConfig": "config", "CoarseToFineForConditionalGeneration": "model"}

__all__ = ["CoarseToFineConfig", "CoarseToFineForConditionalGeneration"]


def __getattr__(name: str) -> Any:
    """Import a public name on first use."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
