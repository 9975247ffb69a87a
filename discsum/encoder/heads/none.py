"""No attention: `A = I`, each unit only attends to itself (Xiao et al. 2020, section 5.1)."""

from __future__ import annotations

import torch
from torch import Tensor

from discsum.encoder.heads import HEADS
from discsum.encoder.heads.base import Head, Prior


@HEADS.register("none")
class NoHead(Head):
    """Attends from each unit to itself only."""

    def forward(self, states: Tensor, prior: Prior, mask: Tensor) -> Tensor:
        """Return the identity matrix, with 0 at padding, `(batch, 1, units, units)`."""
        return torch.diag_embed(mask.to(states.dtype))[:, None]
