"""Abstractive summarizers whose cross-attention reads selected sentences of a document (Manakul and Gales 2021)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from discsum.late_imports import on_first_use

if TYPE_CHECKING:
    from discsum.abstractive.converted import from_pretrained
    from discsum.abstractive.sentence_layout import SentenceLayout
    from discsum.abstractive.sparse.collator import LayoutCollator
    from discsum.abstractive.sparse.conversion import densify, sparsify

# Listing the selectors does not import torch.
if not TYPE_CHECKING:
    __getattr__ = on_first_use(
        __name__,
        {
            "densify": "discsum.abstractive.sparse.conversion",
            "from_pretrained": "discsum.abstractive.converted",
            "sparsify": "discsum.abstractive.sparse.conversion",
            "LayoutCollator": "discsum.abstractive.sparse.collator",
            "SentenceLayout": "discsum.abstractive.sentence_layout",
        },
    )

__all__ = ["LayoutCollator", "SentenceLayout", "densify", "from_pretrained", "sparsify"]
