"""Fixed random attention (Tay et al. 2020, Fixed Random Synthesizer)."""

from __future__ import annotations

from discsum.encoder.heads import HEADS
from discsum.encoder.heads._random_matrix import RandomHead
from discsum.encoder.heads.base import HeadConfig


@HEADS.register("fixed_random")
class FixedRandomHead(RandomHead):
    """A matrix that stays as it was drawn: no parameter, yet part of a saved model."""

    def __init__(self, config: HeadConfig) -> None:
        """Draw `R`."""
        super().__init__(config)
        self.register_buffer("logits", self.drawn())
