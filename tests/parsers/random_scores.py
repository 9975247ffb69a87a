"""Random scores of splits, the scores of trees written out, and all trees over some EDUs."""

import numpy as np
import torch

from discsum.parsers.edu_vectors import EDULayout
from discsum.parsers.structure import SplitScores
from discsum.parsers.structure.scores import SIZE_BUCKETS
from discsum.tree import Node, RSTTree


def random_scores(edus, seed, rank=3, scale=1.0, sentences=(0,)):
    generator = torch.Generator().manual_seed(seed)

    def draw(*shape):
        return (torch.randn(*shape, generator=generator, dtype=torch.float64) * scale).requires_grad_()

    borders, sizes = max(0, edus - 1), len(SIZE_BUCKETS) + 1
    return SplitScores(
        draw(edus, 3 * rank),
        draw(borders, 4 * rank + 1),
        draw(borders),
        draw(sizes),
        draw(sizes),
        draw(edus + 1, rank),
        np.isin(np.arange(edus), sentences),
    )


def bucket(size):
    return sum(size - 1 >= limit for limit in SIZE_BUCKETS)


def split_score(scores, first, split, last):
    """Return the score of a split, written out, as a scalar tensor."""
    start, end = scores.edus[first].chunk(3)[0], scores.edus[last].chunk(3)[1]
    left_border, right_border, left_topic, right_topic = scores.borders[split][:-1].chunk(4)
    left = start @ left_border + scores.left_sizes[bucket(split - first + 1)]
    right = right_border @ end + scores.right_sizes[bucket(last - split)]
    left = left + (scores.totals[split + 1] - scores.totals[first]) @ left_topic / (split - first + 1)
    right = right + (scores.totals[last + 1] - scores.totals[split + 1]) @ right_topic / (last - split)
    return left + right + scores.strength[split]


def trees(first, last):
    """Return every tree over EDUs `first` to `last`, each as a list of nodes (first, last, split)."""
    if first == last:
        return [[]]
    return [
        [(first, last, split), *left, *right]
        for split in range(first, last)
        for left in trees(first, split)
        for right in trees(split + 1, last)
    ]


def tree_score(scores, nodes):
    return sum(split_score(scores, first, split, last) for first, last, split in nodes)


def to_tree(edus, bracketing):
    nodes = (Node(*map(int, node), "NN", "joint-list") for node in bracketing.nodes)
    return RSTTree.from_unordered(edus, nodes)


def layout_of(edus):
    index = torch.arange(edus)
    bags = torch.nn.functional.normalize(torch.randn(edus, 5), dim=1)
    return EDULayout(index, index + 1, torch.randint(0, 4, (edus,)), torch.randint(0, 4, (edus,)), bags)
