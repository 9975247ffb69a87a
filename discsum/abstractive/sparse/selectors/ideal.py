"""Selection by full attention (Manakul and Gales 2021, Eq 4 and 6)."""

from __future__ import annotations

import torch
from torch import Tensor

from discsum.abstractive.sentence_layout import SentenceLayout
from discsum.abstractive.sparse.selectors import SELECTORS
from discsum.abstractive.sparse.selectors.base import EncodedTokens, Queries, Selector


@SELECTORS.register("ideal")
class IdealSelector(Selector):
    """Scores a sentence by the full attention to its tokens: as costly as full attention."""

    def summarise(self, source: EncodedTokens) -> tuple[Tensor, ...]:
        """Return the keys."""
        return (source.keys,)

    def logits(self, queries: Queries, summary: tuple[Tensor, ...], layout: SentenceLayout) -> Tensor:
        """Return the logarithm of `alpha^s`."""
        return self._attention(queries, summary, layout).clamp_min(1e-30).log()

    def scores(self, queries: Queries, summary: tuple[Tensor, ...], layout: SentenceLayout) -> Tensor:
        """Return `alpha^s` averaged over heads."""
        return self._attention(queries, summary, layout).mean(dim=1)

    def _attention(self, queries: Queries, summary: tuple[Tensor, ...], layout: SentenceLayout) -> Tensor:
        products = queries.projected @ summary[0].transpose(-1, -2)
        weights = torch.softmax(products.masked_fill((layout.owner < 0)[:, None, None, :], float("-inf")), dim=-1)
        return layout.sums(weights)
