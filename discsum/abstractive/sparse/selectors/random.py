"""Sentences by chance, which any other selector has to beat (Manakul and Gales 2021, Table 2)."""

from __future__ import annotations

import torch
from torch import Tensor

from discsum.abstractive.sparse.layout import SentenceLayout
from discsum.abstractive.sparse.selectors import SELECTORS
from discsum.abstractive.sparse.selectors.base import AttentionShape, EncodedTokens, Queries, Selector
from discsum.errors import InputError


@SELECTORS.register("random")
class RandomSelector(Selector):
    """Draws sentences anew for every layer and query."""

    def __init__(self, shape: AttentionShape, seed: int = 0) -> None:
        """Draw with the seed, in each layer otherwise."""
        super().__init__(shape)
        if not (isinstance(seed, int) and 0 <= seed < 2**32):
            raise InputError(f"seed: expected a whole number from 0 to 2**32 - 1, got {seed!r}")
        self.generator = torch.Generator().manual_seed(seed * 1009 + shape.layer)

    def summarise(self, source: EncodedTokens) -> tuple[Tensor, ...]:
        """Return nothing."""
        return ()

    def logits(self, queries: Queries, summary: tuple[Tensor, ...], layout: SentenceLayout) -> Tensor:
        """Return zeros: chance prefers none."""
        return queries.hidden.new_zeros(layout.documents, 1, queries.hidden.shape[1], layout.starts.shape[1])

    def scores(self, queries: Queries, summary: tuple[Tensor, ...], layout: SentenceLayout) -> Tensor:
        """Return random numbers."""
        shape = (layout.documents, queries.hidden.shape[1], layout.starts.shape[1])
        # In training those of the run's seed, which a run that goes on has too.
        own = None if self.training else self.generator
        return torch.rand(shape, generator=own).to(queries.hidden)
