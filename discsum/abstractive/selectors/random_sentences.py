"""Sentences by chance, which any other selector has to beat (Manakul and Gales 2021, Table 2)."""

from __future__ import annotations

import torch
from torch import Tensor

from discsum.abstractive.layout import SentenceLayout
from discsum.abstractive.selectors.base import AttentionShape, Queries, Selector, Source


class RandomSelector(Selector):
    """Draws sentences anew for every layer and query."""

    def __init__(self, shape: AttentionShape, seed: int = 0) -> None:
        """Draw with the seed."""
        super().__init__(shape)
        self.generator = torch.Generator().manual_seed(seed)

    def summarise(self, source: Source) -> tuple[Tensor, ...]:
        """Return nothing."""
        return ()

    def logits(self, queries: Queries, summary: tuple[Tensor, ...], layout: SentenceLayout) -> Tensor:
        """Return random numbers."""
        shape = (layout.documents, 1, queries.hidden.shape[1], layout.starts.shape[1])
        return torch.rand(shape, generator=self.generator).to(queries.hidden)
