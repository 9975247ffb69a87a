"""What a decoder keeps from step to step: its own keys a beam, the documents' once for all beams."""

from __future__ import annotations

from typing import Any

from torch import Tensor
from transformers import DynamicCache, EncoderDecoderCache

from discsum.abstractive.sparse.documents import LayerDocuments, StateDocuments


class SparseCrossCache(EncoderDecoderCache):
    """The cache of `generate`: beams are reordered in their own part alone, documents are never copied.

    Attributes:
        documents: By layer, what is kept of the documents.
    """

    def __init__(self, config: Any) -> None:
        """Start an empty cache for a model of that configuration."""
        decoder = config.get_text_config(decoder=True)
        super().__init__(DynamicCache(config=decoder), DynamicCache(config=decoder))
        self.documents: dict[int, LayerDocuments | StateDocuments] = {}

    @property
    def cross_bytes(self) -> int:
        """Memory of what is kept of the documents, in bytes."""
        # Layers may share encoder states.
        parts = (part for layer in self.documents.values() for part in layer.tensors)
        return sum({part.data_ptr(): part.untyped_storage().nbytes() for part in parts}.values())

    def reset(self) -> None:
        """Forget everything."""
        super().reset()  # type: ignore[no-untyped-call]
        self.documents.clear()

    def reorder_cache(self, beam_idx: Tensor) -> None:
        """Follow the beams that go on; they stay with their documents."""
        self.self_attention_cache.reorder_cache(beam_idx)  # type: ignore[arg-type]

    def batch_repeat_interleave(self, repeats: int) -> None:
        """Repeat every beam; documents stay one each."""
        self.self_attention_cache.batch_repeat_interleave(repeats)
