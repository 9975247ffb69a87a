"""The learning rate of each step, and the running average of the weights."""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch
from torch import Tensor, nn

SCHEDULES = ("cosine", "noam", "constant")


def rate_factor(done: float, warmup: float, steps: int, schedule: str = "cosine") -> float:
    """Return the learning rate as a share of its peak, after the share `done` of a run of `steps` steps.

    The rate rises linearly over the share `warmup`; then it falls to 0 along a cosine, or with the inverse square root
    of the step (`noam`, Vaswani et al. 2017, section 5.3), or not at all (`constant`).
    """
    if done < warmup:
        return min(1.0, (done + 1 / steps) / warmup)
    if schedule == "constant":
        return 1.0
    if schedule == "noam":
        return math.sqrt(max(warmup, 1 / steps) / (done + 1 / steps))
    return 0.5 * (1.0 + math.cos(math.pi * (done - warmup) / (1.0 - warmup)))


def plateau_factor(scores: Sequence[float], factor: float) -> float:
    """Return `factor` to the power of the number of validations since the first one without improvement.

    The first one counts, and so do all later ones, even if they improve (Ling and Rush 2017, section 5.4).
    """
    missed = (place for place, score in enumerate(scores) if place and score <= max(scores[:place]))
    first = next(missed, len(scores))
    return factor ** (len(scores) - first)


@torch.no_grad()
def update_average(average: dict[str, Tensor], network: nn.Module, step: int, decay: float) -> None:
    """Update the running average after a step; `average` is keyed as the network's `state_dict`."""
    # The decay is lower in the first steps, so that they have little weight in the average.
    decay = min(decay, (1 + step) / (10 + step))
    for key, value in network.state_dict().items():
        if value.is_floating_point():
            average[key].lerp_(value, 1.0 - decay)
