"""A selector combined with the discourse prior."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from discsum.abstractive.sparse.layout import SentenceLayout
from discsum.abstractive.sparse.selectors.base import EncodedTokens, Queries, Selector
from discsum.errors import InputError


class DiscoursePriorSelector(Selector):
    """Adds `beta log p` to another selector's log probabilities, `p` the layout's prior."""

    def __init__(self, inner: Selector, beta: float = 0.0) -> None:
        """Wrap a selector; `beta` is the initial weight, which training learns."""
        super().__init__(inner.shape)
        self.inner = inner
        self.beta = nn.Parameter(torch.tensor(float(beta)))

    def summarise(self, source: EncodedTokens) -> tuple[Tensor, ...]:
        """Return the summary of the other selector."""
        return self.inner.summarise(source)

    def logits(self, queries: Queries, summary: tuple[Tensor, ...], layout: SentenceLayout) -> Tensor:
        """Return the sums."""
        if layout.prior is None:
            raise InputError("expected a layout with a prior; make it by layout.with_prior(documents)")
        # In float32: in half precision 1e-9 is 0.
        prior = layout.prior.float().clamp_min(1e-9).log().to(queries.projected.dtype)
        return self.inner.log_probabilities(queries, summary, layout) + self.beta * prior[:, None, None, :]
