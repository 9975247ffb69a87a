"""Learned random attention (Tay et al. 2020, Random Synthesizer)."""

from __future__ import annotations

from torch import nn

from discsum.encoder.heads.base import HeadConfig
from discsum.encoder.heads.random_matrix import RandomHead


class LearnedRandomHead(RandomHead):
    """A matrix that starts at random and is learned."""

    def __init__(self, config: HeadConfig) -> None:
        """Draw `R`."""
        super().__init__(config)
        self.logits = nn.Parameter(self.drawn())
