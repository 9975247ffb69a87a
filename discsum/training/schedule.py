"""What changes from step to step of a training run: the learning rate, and the running average of the weights."""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch
from torch import Tensor, nn

SCHEDULES = ("cosine", "noam")


def rate_factor(done: float, warmup: float, steps: int, schedule: str = "cosine") -> float:
    """Return the share of the peak learning rate after a share `done` of the run.

    The rate rises linearly; then it falls to 0 along a cosine, or with the inverse square root of the step (`noam`,
    Vaswani et al. 2017, section 5.3).

    Args:
        done: Share of the run's steps that are past, from 0 to 1.
        warmup: Share of the steps in which the rate rises.
        steps: Steps of the whole run.
        schedule: One of `SCHEDULES`.
    """
    if done < warmup:
        return (done + 1 / steps) / warmup
    if schedule == "noam":
        return math.sqrt(max(warmup, 1 / steps) / (done + 1 / steps))
    return 0.5 * (1.0 + math.cos(math.pi * (done - warmup) / (1.0 - warmup)))


def plateau_factor(scores: Sequence[float], factor: float) -> float:
    """Return `factor` to the power of how many validations were no better than the best before them.

    Args:
        scores: Of the validations so far; more is better.
        factor: What one of them multiplies the learning rate by, as 0.5.
    """
    missed = sum(score <= max(scores[:place]) for place, score in enumerate(scores) if place)
    return factor**missed


@torch.no_grad()
def update_average(average: dict[str, Tensor], network: nn.Module, step: int, decay: float) -> None:
    """Move the running average, of the network's `state_dict`, towards its weights after the run's `step`."""
    # A young average forgets faster, so that the first steps do not weigh it down.
    decay = min(decay, (1 + step) / (10 + step))
    for key, value in network.state_dict().items():
        if value.is_floating_point():
            average[key].lerp_(value, 1.0 - decay)
