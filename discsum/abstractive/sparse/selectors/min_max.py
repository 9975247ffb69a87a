"""Sentence selection by an upper bound of token scores, without training (Tang et al. 2024, Quest)."""

from __future__ import annotations

from torch import Tensor

from discsum.abstractive.sentence_layout import SentenceLayout
from discsum.abstractive.sparse.selectors import SELECTORS
from discsum.abstractive.sparse.selectors.base import EncodedTokens, Queries, Selector


@SELECTORS.register("min_max")
class MinMaxSelector(Selector):
    """Scores a sentence by `sum_d max(q_d min_j k_jd, q_d max_j k_jd)`, which no `q . k_j` of its tokens exceeds."""

    def summarise(self, source: EncodedTokens) -> tuple[Tensor, ...]:
        """Return the least and the largest key values, `(documents, heads, head_size, sentences)` each."""
        keys = source.keys.transpose(-1, -2)
        columns = source.layout.columns(keys)
        # Padded sentences stay 0, so that sums are finite; the last column takes the padding.
        empty = keys.new_zeros(*keys.shape[:-1], source.layout.mask.shape[1] + 1)
        return tuple(
            empty.scatter_reduce(-1, columns, keys, name, include_self=False)[..., :-1] for name in ("amin", "amax")
        )

    def logits(self, queries: Queries, summary: tuple[Tensor, ...], layout: SentenceLayout) -> Tensor:
        """Return the bounds."""
        least, largest = summary
        # With a positive q_d the product is largest at the largest key value, with a negative one at the least.
        return queries.projected.clamp_min(0) @ largest + queries.projected.clamp_max(0) @ least
