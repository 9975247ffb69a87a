"""Sentence selection by mean keys, without training."""

from __future__ import annotations

from torch import Tensor

from discsum.abstractive.sentence_layout import SentenceLayout
from discsum.abstractive.sparse.selectors import SELECTORS
from discsum.abstractive.sparse.selectors.base import EncodedTokens, Queries, Selector

MEANS = "means of states"


def means(values: Tensor, layout: SentenceLayout) -> Tensor:
    """Return `(documents, heads, sentences, size)` means of `(documents, heads, tokens, size)` values, in float32."""
    sums = layout.sums(values.transpose(-1, -2)).transpose(-1, -2)
    return sums / layout.lengths.clamp_min(1)[:, None, :, None]


@SELECTORS.register("mean_key")
class MeanKeySelector(Selector):
    """Scores a sentence by `q . mean_j k_j` plus the log of its length: exact attention if all its keys were equal."""

    def summarise(self, source: EncodedTokens) -> tuple[Tensor, ...]:
        """Return the mean keys `(documents, heads, sentences, head_size)`: the keys of the mean states."""
        if MEANS not in source.memo:
            source.memo[MEANS] = means(source.states[:, None], source.layout)[:, 0].to(source.states.dtype)
        return (source.key(source.memo[MEANS]),)

    def logits(self, queries: Queries, summary: tuple[Tensor, ...], layout: SentenceLayout) -> Tensor:
        """Return the logits."""
        sizes = layout.lengths.clamp_min(1).to(queries.projected.dtype).log()
        return queries.projected @ summary[0].transpose(-1, -2) + sizes[:, None, None, :]
