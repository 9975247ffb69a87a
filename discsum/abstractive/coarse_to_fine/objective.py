"""REINFORCE for the choice of chunks (Ling and Rush 2017, section 4.3)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import torch
from torch import Tensor

from discsum.abstractive.family import IGNORED
from discsum.recipes.fields import Checked, NotNegative, Share, about


@dataclass(frozen=True)
class Reinforce(Checked):
    """Weights of the rewards."""

    discount: Annotated[Share, about("Discount of later rewards, the paper's gamma.")] = 0.5
    scale: Annotated[NotNegative, about("Factor of all rewards, the paper's lambda.")] = 0.3
    baseline_rate: Annotated[Share, about("Update rate of a step's baseline, a moving mean; the paper's beta.")] = 0.1


def rewards_of(logits: Tensor, labels: Tensor) -> Tensor:
    """Return `(rows, steps)` `r_t = log p(y_t)` of the labels, without gradient; 0 where a label is ignored."""
    flat = torch.nn.functional.cross_entropy(
        logits.detach().flatten(0, 1).float(), labels.flatten(), ignore_index=IGNORED, reduction="none"
    )
    return -flat.view(labels.shape)


def returns_of(rewards: Tensor, baseline: Tensor, steps: Tensor, settings: Reinforce) -> Tensor:
    """Return `(rows, steps)` `lambda sum_{s>=t} gamma^(s-t) (r_s - b_s)` (Eq 4).

    Args:
        rewards: `(rows, steps)`.
        baseline: `(steps,)` or longer.
        steps: `(rows, steps)` true where a step counts; others have no reward and no baseline.
        settings: Discount and scale.
    """
    gains = (rewards - baseline[: rewards.shape[1]]) * steps
    found = torch.zeros_like(gains)
    after = torch.zeros_like(gains[:, 0])
    for step in reversed(range(gains.shape[1])):
        after = gains[:, step] + settings.discount * after
        found[:, step] = after
    return settings.scale * found


def policy_loss(log_choices: Tensor, returns: Tensor, steps: Tensor) -> Tensor:
    """Return the mean over steps of `-R_t log p(a_t)`, whose gradient is that of REINFORCE; all are `(rows, steps)`."""
    return -(returns.detach() * log_choices * steps).sum() / steps.sum().clamp(min=1)


class MovingBaseline:
    """Moving means of the rewards of each decoder step, `b_t <- b_t + beta (r_t - b_t)`, which start at 0.

    Attributes:
        values: `(steps,)`.
    """

    def __init__(self, steps: int, device: torch.device | str = "cpu") -> None:
        """Start the means of this many steps at 0."""
        self.values = torch.zeros(steps, device=device)
        # Sums and counts of the rewards of the current training step.
        self._new = torch.zeros(2, steps, device=device)

    def cover(self, steps: int) -> None:
        """Make the means those of at least this many steps; new ones start at 0."""
        more = max(0, steps - len(self.values))
        self.values, self._new = (torch.nn.functional.pad(one, (0, more)) for one in (self.values, self._new))

    def record(self, rewards: Tensor, steps: Tensor) -> None:
        """Record the rewards `(rows, steps)` of a part of a training step from all processes; `steps` masks them."""
        own = torch.zeros_like(self._new)
        own[:, : rewards.shape[1]] = torch.stack([(rewards * steps).sum(0), steps.sum(0)])
        if torch.distributed.is_available() and torch.distributed.is_initialized():
            torch.distributed.all_reduce(own)
        self._new += own

    def advance(self, rate: float) -> None:
        """Update the means with the rewards recorded since the last call; a step without rewards keeps its mean."""
        sums, counts = self._new
        self.values += rate * (counts > 0) * (sums / counts.clamp(min=1) - self.values)
        self._new.zero_()

    def state(self) -> dict[str, Tensor]:
        """Return what `load_state` restores."""
        return {"baseline": self.values, "baseline_new": self._new}

    def load_state(self, state: dict[str, Tensor]) -> None:
        """Restore what `state` returned."""
        self.values.copy_(state["baseline"])
        self._new.copy_(state["baseline_new"])
