"""Sentence selection by sums of positive feature maps, without training (Manakul and Gales 2021, Eq 16-19)."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from discsum.abstractive.sentence_layout import SentenceLayout
from discsum.abstractive.sparse.selectors import SELECTORS
from discsum.abstractive.sparse.selectors.base import AttentionShape, EncodedTokens, Queries, Selector
from discsum.errors import InputError


def _elu_and_one(values: Tensor) -> Tensor:
    return torch.nn.functional.elu(values) + 1.0


MAPS: dict[str, Callable[[Tensor], Tensor]] = {
    "elu+1": _elu_and_one,
    "exp": torch.exp,
    "relu": torch.relu,
}


@SELECTORS.register("model_free")
class ModelFreeSelector(Selector):
    """Scores a sentence by `phi(q) . sum_j phi(k_j)` over its tokens, which favours long sentences."""

    def __init__(self, shape: AttentionShape, feature_map: str = "elu+1") -> None:
        """Use a feature map of `MAPS`; raise `InputError` for any other."""
        super().__init__(shape)
        if feature_map not in MAPS:
            raise InputError(f"feature_map: expected one of {', '.join(MAPS)}, got {feature_map!r}")
        self.feature_map = MAPS[feature_map]

    def summarise(self, source: EncodedTokens) -> tuple[Tensor, ...]:
        """Return `(documents, heads, head_size, sentences)` sums of the keys' features."""
        return (source.layout.sums(self.feature_map(source.keys).transpose(-1, -2)).to(source.keys.dtype),)

    def logits(self, queries: Queries, summary: tuple[Tensor, ...], layout: SentenceLayout) -> Tensor:
        """Return the logarithm of the similarities."""
        products = self.feature_map(queries.projected) @ summary[0]
        # In float32: in half precision 1e-30 is 0.
        return products.float().clamp_min(1e-30).log().to(products.dtype)

    def scores(self, queries: Queries, summary: tuple[Tensor, ...], layout: SentenceLayout) -> Tensor:
        """Return the unnormalised similarities, averaged over heads, as in the released code."""
        return (self.feature_map(queries.projected) @ summary[0]).mean(dim=1)
