"""Abstractive summarizers whose cross-attention reads some sentences of a document only (Manakul and Gales 2021)."""

from __future__ import annotations

from discsum.abstractive.sparse.cache import SparseCrossCache
from discsum.abstractive.sparse.conversion import densify, sentences, sparsify
from discsum.abstractive.sparse.layout import SentenceLayout

__all__ = ["SentenceLayout", "SparseCrossCache", "densify", "sentences", "sparsify"]
