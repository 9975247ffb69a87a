"""Abstractive summarizers whose cross-attention reads some sentences of a document only (Manakul and Gales 2021)."""

from __future__ import annotations

from discsum.abstractive.cache import SparseCrossCache
from discsum.abstractive.layout import SentenceLayout
from discsum.abstractive.sparsify import densify, sentences, sparsify

__all__ = ["SentenceLayout", "SparseCrossCache", "densify", "sentences", "sparsify"]
