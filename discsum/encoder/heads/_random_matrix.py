"""Attention that knows nothing of the text: one matrix for all documents (Xiao et al. 2020, section 3.2)."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from discsum.encoder.heads.base import Head, Prior, check_units, masked_softmax


class RandomHead(Head):
    """Attends by `softmax(R)`, a matrix `R` a head."""

    limited = True
    logits: Tensor

    def forward(self, states: Tensor, prior: Prior, mask: Tensor) -> Tensor:
        """Return the upper left corner of `R`, the same for every document."""
        units = states.shape[1]
        check_units(units, self.config.max_units)
        return masked_softmax(self.logits[None, :, :units, :units], mask)

    def drawn(self) -> Tensor:
        """Return a new `R`, `(heads, max_units, max_units)`."""
        size = self.config.max_units
        return nn.init.xavier_uniform_(torch.empty(self.config.heads, size, size))
