"""The decoder's cache: self-attention for each beam, cross-attention once for all beams of a document."""

from __future__ import annotations

from typing import Any

from torch import Tensor
from transformers import DynamicCache, EncoderDecoderCache

from discsum.abstractive.sparse.documents import LayerDocuments, StateDocuments


class SparseCrossCache(EncoderDecoderCache):
    """The cache of `generate`: reordering beams touches self-attention only, documents are never copied.

    Attributes:
        documents: By layer, keys and values (or states) of the documents.
    """

    def __init__(self, config: Any) -> None:
        """Make an empty cache for a model's configuration."""
        decoder = config.get_text_config(decoder=True)
        super().__init__(DynamicCache(config=decoder), DynamicCache(config=decoder))
        self.documents: dict[int, LayerDocuments | StateDocuments] = {}

    @property
    def cross_bytes(self) -> int:
        """Memory of the cross-attention cache, in bytes."""
        # Layers may share encoder states, which count once.
        parts = (part for layer in self.documents.values() for part in layer.tensors)
        return sum({part.data_ptr(): part.untyped_storage().nbytes() for part in parts}.values())

    def reset(self) -> None:
        """Empty the cache."""
        super().reset()  # type: ignore[no-untyped-call]
        self.documents.clear()

    def reorder_cache(self, beam_idx: Tensor) -> None:
        """Reorder self-attention; a beam never changes its document."""
        self.self_attention_cache.reorder_cache(beam_idx)  # type: ignore[arg-type]

    def batch_repeat_interleave(self, repeats: int) -> None:
        """Repeat self-attention for every beam; documents are kept once."""
        self.self_attention_cache.batch_repeat_interleave(repeats)
