"""Fixed random attention (Tay et al. 2020, Fixed Random Synthesizer)."""

from __future__ import annotations

from discsum.encoder.heads import HEADS
from discsum.encoder.heads.learned_random import LearnedRandomHead


@HEADS.register("fixed_random")
class FixedRandomHead(LearnedRandomHead):
    """Attends by a random matrix that is not trained, but saved with the model."""

    learned = False
