"""Sentences by a bound on their largest score, without training (Tang et al. 2024, Quest)."""

from __future__ import annotations

import torch
from torch import Tensor

from discsum.abstractive.sparse.layout import SentenceLayout
from discsum.abstractive.sparse.selectors import SELECTORS
from discsum.abstractive.sparse.selectors.base import EncodedTokens, Queries, Selector


@SELECTORS.register("min_max")
class MinMaxSelector(Selector):
    """Scores a sentence by `sum_d max(q_d min_j k_jd, q_d max_j k_jd)`, which no `q . k_j` of its tokens exceeds."""

    def summarise(self, source: EncodedTokens) -> tuple[Tensor, ...]:
        """Return the least and the largest key values, `(documents, heads, sentences, head_size)` each."""
        layout, keys = source.layout, source.keys
        documents, heads, _, size = keys.shape
        index = layout.owner.clamp_min(0)[:, None, :, None].expand_as(keys)
        padding = (layout.owner < 0)[:, None, :, None]
        bounds = []
        for name, nothing in (("amin", float("inf")), ("amax", float("-inf"))):
            empty = keys.new_full((documents, heads, layout.starts.shape[1], size), nothing)
            found = empty.scatter_reduce(2, index, keys.masked_fill(padding, nothing), name)
            # Padded sentences: any finite number, so that sums are finite.
            bounds.append(torch.where(layout.mask[:, None, :, None], found, found.new_zeros(())))
        return bounds[0], bounds[1]

    def logits(self, queries: Queries, summary: tuple[Tensor, ...], layout: SentenceLayout) -> Tensor:
        """Return the bounds."""
        least, largest = (bound.transpose(-1, -2) for bound in summary)
        # A positive q_d is largest at the largest key value, a negative one at the least.
        return queries.projected.clamp_min(0) @ largest + queries.projected.clamp_max(0) @ least
