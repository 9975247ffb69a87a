"""Sentence vectors by attention over each sentence's encoder states: cheaper than the GRU."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from discsum.abstractive.sparse.selectors import SELECTORS
from discsum.abstractive.sparse.selectors._learned import SentenceEncoder


@SELECTORS.register("attention_pooling", shared=True)
class AttentionPoolingSentences(SentenceEncoder):
    """`sum_j softmax_j(v . tanh(W h_j)) h_j` over a sentence's tokens, through one linear map (Yang et al. 2016)."""

    def __init__(self, width: int) -> None:
        """Build the maps."""
        super().__init__()
        self.inner = nn.Linear(width, width)
        self.weight = nn.Linear(width, 1, bias=False)
        self.output = nn.Linear(width, width)

    def encoded(self, rows: Tensor, lengths: Tensor) -> Tensor:
        """Return the vectors of sentences."""
        scores = self.weight(torch.tanh(self.inner(rows))).squeeze(-1)
        inside = torch.arange(rows.shape[1], device=rows.device)[None, :] < lengths[:, None]
        weights = torch.softmax(scores.masked_fill(~inside, float("-inf")), dim=-1)
        vectors: Tensor = self.output((weights[..., None] * rows).sum(dim=1))
        return vectors
