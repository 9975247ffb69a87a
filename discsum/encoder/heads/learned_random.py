"""Learned random attention: one matrix for all documents (Tay et al. 2020; Xiao et al. 2020, section 3)."""

from __future__ import annotations

from typing import ClassVar

import torch
from torch import Tensor, nn

from discsum.encoder.heads import HEADS
from discsum.encoder.heads.base import Head, HeadConfig, Prior, check_units, masked_softmax


@HEADS.register("learned_random")
class LearnedRandomHead(Head):
    """Attends by `softmax(R)`, where the matrix `R` of each head is initialised at random and trained."""

    learned: ClassVar[bool] = True
    logits: Tensor

    def __init__(self, config: HeadConfig) -> None:
        super().__init__(config)
        # Standard normal, as in the released code: with smaller logits the attention would start as nearly uniform, and
        # a fixed matrix would stay so.
        matrix = torch.randn(config.heads, config.max_units, config.max_units)
        if self.learned:
            self.logits = nn.Parameter(matrix)
        else:
            self.register_buffer("logits", matrix)

    def forward(self, states: Tensor, prior: Prior, mask: Tensor) -> Tensor:
        """Return the softmax of the upper left corner of `R`, `(batch, heads, units, units)`."""
        units = states.shape[1]
        check_units(units, self.config.max_units)
        return masked_softmax(self.logits[None, :, :units, :units], mask)
