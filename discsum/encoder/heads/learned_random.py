"""Learned random attention (Tay et al. 2020, Random Synthesizer)."""

from __future__ import annotations

from torch import nn

from discsum.encoder.heads import HEADS
from discsum.encoder.heads._random_matrix import RandomHead
from discsum.encoder.heads.base import HeadConfig


@HEADS.register("learned_random")
class LearnedRandomHead(RandomHead):
    """A matrix that starts at random and is learned."""

    def __init__(self, config: HeadConfig) -> None:
        """Draw `R`."""
        super().__init__(config)
        self.logits = nn.Parameter(self.drawn())
