"""Attention predicted from each unit alone, without the others (Tay et al. 2020; Xiao et al. 2020, section 3)."""

from __future__ import annotations

from dataclasses import dataclass

from torch import Tensor, nn

from discsum.encoder.heads import HEADS
from discsum.encoder.heads.base import Head, HeadConfig, Prior, check_units, masked_softmax


@dataclass(frozen=True)
class DenseOptions:
    """Options of the dense head: its inner size."""

    dense_inner: int = 512


@HEADS.register("dense", options=DenseOptions)
class DenseHead(Head):
    """Attends by `softmax(W1 relu(W2 X + b2) + b1)`, with a row of `max_units` logits per unit and head."""

    def __init__(self, config: HeadConfig) -> None:
        super().__init__(config)
        inner = config.read(DenseOptions).dense_inner
        self.logits = nn.Sequential(
            nn.Linear(config.width, inner),
            nn.ReLU(),
            nn.Linear(inner, config.heads * config.max_units),
        )

    def forward(self, states: Tensor, prior: Prior, mask: Tensor) -> Tensor:
        """Return the attention of every head, `(batch, heads, units, units)`."""
        batch, units, _ = states.shape
        check_units(units, self.config.max_units)
        logits = self.logits(states).view(batch, units, self.config.heads, self.config.max_units)
        return masked_softmax(logits.transpose(1, 2)[..., :units], mask)
