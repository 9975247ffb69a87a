"""Scaled dot products of keys and queries, as in the transformer (Vaswani et al. 2017, section 3.2)."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from discsum.encoder.heads import HEADS
from discsum.encoder.heads.base import Head, HeadConfig, Prior, masked_softmax


@HEADS.register("dot_product")
class DotProductHead(Head):
    """Attends by `softmax(Q(X) K(X)^T / sqrt(d_k))`, with any number of heads and units."""

    def __init__(self, config: HeadConfig) -> None:
        super().__init__(config)
        self.query = nn.Linear(config.width, config.heads * config.key_size)
        self.key = nn.Linear(config.width, config.heads * config.key_size)

    def forward(self, states: Tensor, prior: Prior, mask: Tensor) -> Tensor:
        """Return the attention of every head, `(batch, heads, units, units)`."""
        query, key = self._parted(self.query(states)), self._parted(self.key(states))
        return masked_softmax(query @ key.transpose(2, 3) * self.config.key_size**-0.5, mask)

    def mix(self, states: Tensor, values: Tensor, prior: Prior, mask: Tensor) -> Tensor:
        """Return the same as the base class, with torch's kernel, which does not store the matrix."""
        return torch.nn.functional.scaled_dot_product_attention(
            self._parted(self.query(states)),
            self._parted(self.key(states)),
            values,
            attn_mask=mask[:, None, None, :],
            dropout_p=self.dropout.p if self.training else 0.0,
        )

    def _parted(self, states: Tensor) -> Tensor:
        batch, units, _ = states.shape
        return states.view(batch, units, self.config.heads, self.config.key_size).transpose(1, 2)
