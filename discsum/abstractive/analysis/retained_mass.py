"""How much attention the best sentences hold (Manakul and Gales 2021, figure 1)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from discsum.abstractive.sparse.state import Observation


class RetainedMass:
    """Means, over documents and steps, of the attention to the r sentences that get most.

    Attention is averaged over heads first (appendix A.4).

    Attributes:
        sums: `(layers, r)` sums over steps.
        steps: How many steps were added.
    """

    def __init__(self, layers: int, most: int) -> None:
        """Start with no step, for r from 1 to `most`."""
        self.sums = np.zeros((layers, most))
        self.steps = 0

    def add(self, observations: Sequence[Observation], steps: Tensor) -> None:
        """Add the steps `(documents, queries)` that are true, of one forward pass."""
        most = self.sums.shape[1]
        for one in observations:
            heads = one.attention.detach().float().mean(dim=1)[steps.bool()]
            best = torch.sort(heads, dim=-1, descending=True).values[:, :most].cumsum(dim=-1)
            # Beyond a document's own sentences nothing is added.
            reached = torch.nn.functional.pad(best, (0, most - best.shape[1]), mode="replicate")
            self.sums[one.layer] += reached.sum(dim=0).cpu().numpy()
        self.steps += int(steps.bool().sum())

    @property
    def curves(self) -> NDArray[np.float64]:
        """`(layers, r)`: the mean share of attention that the best 1, 2, ... sentences hold."""
        return self.sums / max(1, self.steps)
