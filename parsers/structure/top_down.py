"""Top-down splitting: each span chooses its split with a softmax of its own, the best one is taken."""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from discsum.parsers.structure.scores import Bracketing, Design, SplitScores


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
    nodes, probabilities = [], []
    open_spans = [(0, len(index) - 1)] if len(index) > 1 else []
    while open_spans:
        first, last = open_spans.pop()
        borders = index[first:last]
        values = scores.left(index[first : first + 1], borders)[0] + scores.right(borders, index[last : last + 1])[:, 0]
        best = int(values.argmax())
        split = first + best
        nodes.append((first, last, split))
        probabilities.append(float(torch.softmax(values, dim=0)[best]))
        if split + 1 < last:
            open_spans.append((split + 1, last))
        if first < split:
            open_spans.append((first, split))
    return Bracketing(np.array(nodes, dtype=np.int64).reshape(-1, 3), np.array(probabilities))


DESIGN = Design(loss, decode)
