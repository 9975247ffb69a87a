"""Coarse-to-fine attention: a decoder chooses a chunk of the text, then reads its words (Ling and Rush 2017).

Importing the model class registers it with `AutoConfig` and `AutoModelForSeq2SeqLM` of transformers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from discsum.late_imports import on_first_use

if TYPE_CHECKING:
    from discsum.abstractive.coarse_to_fine.config import CoarseToFineConfig
    from discsum.abstractive.coarse_to_fine.model import CoarseToFineForConditionalGeneration

# Importing this package does not import torch.
if not TYPE_CHECKING:
    __getattr__ = on_first_use(
        __name__,
        {
            "CoarseToFineConfig": "discsum.abstractive.coarse_to_fine.config",
            "CoarseToFineForConditionalGeneration": "discsum.abstractive.coarse_to_fine.model",
        },
    )

__all__ = ["CoarseToFineConfig", "CoarseToFineForConditionalGeneration"]
