"""Top-down splitting: each span chooses its split with a softmax of its own, the best one is taken."""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from discsum.parsers.structure.scores import Bracketing, Design, SplitScores, split_greedily


def loss(scores: SplitScores, nodes: NDArray[np.int64]) -> Tensor:
    """Return the mean negative log-probability of the gold splits, each within its gold span."""
    rows = torch.from_numpy(nodes).to(scores.strength.device)
    first, last, split = rows.T
    borders = torch.arange(len(scores.strength), device=rows.device)
    # (nodes, borders)
    values = scores.left(first, borders) + scores.right(borders, last).T
    outside = (borders < first[:, None]) | (borders >= last[:, None])
    return torch.nn.functional.cross_entropy(values.masked_fill(outside, float("-inf")), split)


def decode(scores: SplitScores) -> Bracketing:
    """Return the greedy tree: every span is split at its best border. Memory is linear in the EDUs."""
    index = torch.arange(len(scores.starts), device=scores.strength.device)

    def values(first: int, last: int) -> Tensor:
        borders = index[first:last]
        left, right = scores.left(index[first : first + 1], borders), scores.right(borders, index[last : last + 1])
        return left[0] + right[:, 0]

    return split_greedily(len(index), values)


DESIGN = Design(loss, decode)
