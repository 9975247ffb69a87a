"""The learning rate of each step, and the running average of the weights."""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch
from torch import Tensor, nn

SCHEDULES = ("cosine", "noam", "constant")


def rate_factor(done: float, warmup: float, steps: int, schedule: str = "cosine") -> float:
    """Return the share of the peak learning rate after a share `done` of a run of so many steps.

    The rate rises linearly over the share `warmup`; then it falls to 0 along a cosine, or with the inverse square root
    of the step (`noam`, Vaswani et al. 2017, section 5.3), or not at all (`constant`).
    """
    if done < warmup:
        return (done + 1 / steps) / warmup
    if schedule == "constant":
        return 1.0
    if schedule == "noam":
        return math.sqrt(max(warmup, 1 / steps) / (done + 1 / steps))
    return 0.5 * (1.0 + math.cos(math.pi * (done - warmup) / (1.0 - warmup)))


def plateau_factor(scores: Sequence[float], factor: float) -> float:
    """Return `factor` to the power of the number of validations since the first that was no better than the best.

    That one counts, and so do all later ones, better or not (Ling and Rush 2017, section 5.4).
    """
    missed = (place for place, score in enumerate(scores) if place and score <= max(scores[:place]))
    first = next(missed, len(scores))
    return factor ** (len(scores) - first)


@torch.no_grad()
def update_average(average: dict[str, Tensor], network: nn.Module, step: int, decay: float) -> None:
    """Move the running average, keyed as the network's `state_dict`, towards its weights after a step."""
    # An average of few steps forgets faster, so that the first steps weigh little.
    decay = min(decay, (1 + step) / (10 + step))
    for key, value in network.state_dict().items():
        if value.is_floating_point():
            average[key].lerp_(value, 1.0 - decay)
