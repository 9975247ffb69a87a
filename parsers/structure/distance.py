"""Splitting by border strength alone: every span is split at its strongest border.

After the syntactic distances of Shen et al. 2018 (Straight to the Tree): the score of a split does not
depend on the span, so a document's whole tree is one sequence of numbers.
"""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from discsum.parsers.structure.scores import Bracketing, Design, SplitScores, split_greedily


def loss(scores: SplitScores, nodes: NDArray[np.int64]) -> Tensor:
    """Return the mean negative log-probability that the gold split is the strongest border of its span."""
    rows = torch.from_numpy(nodes).to(scores.strength.device)
    first, last, split = rows.T
    borders = torch.arange(len(scores.strength), device=rows.device)
    outside = (borders < first[:, None]) | (borders >= last[:, None])
    values = scores.strength.expand(len(nodes), -1).masked_fill(outside, float("-inf"))
    return torch.nn.functional.cross_entropy(values, split)


def decode(scores: SplitScores) -> Bracketing:
    """Return the tree whose every span is split at its strongest border, the first of equals."""
    return split_greedily(len(scores.starts), lambda first, last: scores.strength[first:last])


DESIGN = Design(loss, decode)
