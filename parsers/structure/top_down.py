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
    starts, ends = _numpy(scores.starts), _numpy(scores.ends)
    left_borders, right_borders = _numpy(scores.left_borders), _numpy(scores.right_borders)
    strength, left_sizes, right_sizes = _numpy(scores.strength), _numpy(scores.left_sizes), _numpy(scores.right_sizes)
    from discsum.parsers.structure.scores import SIZE_BUCKETS

    by_size = np.searchsorted(SIZE_BUCKETS, np.arange(len(starts) + 1), side="right")
    nodes, probabilities = [], []
    open_spans = [(0, len(starts) - 1)] if len(starts) > 1 else []
    while open_spans:
        first, last = open_spans.pop()
        borders, count = slice(first, last), last - first
        values = left_borders[borders] @ starts[first] + right_borders[borders] @ ends[last] + strength[borders]
        sizes = by_size[:count]
        values = values + left_sizes[sizes] + right_sizes[sizes[::-1]]
        best = int(values.argmax())
        split = first + best
        nodes.append((first, last, split))
        probabilities.append(1.0 / float(np.exp(values - values[best]).sum()))
        if split + 1 < last:
            open_spans.append((split + 1, last))
        if first < split:
            open_spans.append((first, split))
    return Bracketing(np.array(nodes, dtype=np.int64).reshape(-1, 3), np.array(probabilities))


def _numpy(tensor: Tensor) -> NDArray[np.float32]:
    return tensor.detach().float().cpu().numpy()


DESIGN = Design(loss, decode)
