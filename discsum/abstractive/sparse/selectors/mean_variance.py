"""Sentence selection by the mean and variance of keys, without training."""

from __future__ import annotations

from torch import Tensor

from discsum.abstractive.sentence_layout import SentenceLayout
from discsum.abstractive.sparse.selectors import SELECTORS
from discsum.abstractive.sparse.selectors.base import EncodedTokens, Queries, Selector
from discsum.abstractive.sparse.selectors.mean_key import means


@SELECTORS.register("mean_variance")
class MeanVarianceSelector(Selector):
    """Scores a sentence by `log sum_j exp(q . k_j)` to second order: mean plus half the variance of `q . k_j`.

    The variance is taken dimension by dimension: `sum_d q_d^2 var_j(k_jd)`.
    """

    def summarise(self, source: EncodedTokens) -> tuple[Tensor, ...]:
        """Return means and variances, `(documents, heads, sentences, head_size)` each."""
        keys, layout = source.keys, source.layout
        mean = means(keys, layout)
        # Subtract the mean before squaring: in half precision the difference of two large numbers would be noise.
        from_mean = keys - layout.spread(mean.transpose(-1, -2)).transpose(-1, -2)
        return mean.to(keys.dtype), means(from_mean.square(), layout).to(keys.dtype)

    def logits(self, queries: Queries, summary: tuple[Tensor, ...], layout: SentenceLayout) -> Tensor:
        """Return the logits."""
        mean, variance = summary
        sizes = layout.lengths.clamp_min(1).to(mean.dtype).log()
        first = queries.projected @ mean.transpose(-1, -2)
        return first + queries.projected.square() @ variance.transpose(-1, -2) / 2 + sizes[:, None, None, :]
