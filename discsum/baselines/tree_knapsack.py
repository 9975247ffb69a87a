"""The tree knapsack of Hirao et al. 2013: the best rooted subtree of the dependency tree within the budget."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from discsum.baselines import BASELINES
from discsum.baselines._rooted_subtree import RootedSubtree, Subtrees
from discsum.dependency import depths
from discsum.document import Document
from discsum.errors import InputError
from discsum.scoring import Scores
from discsum.selection import unit_texts

# Memory that the solution may take.
MOST_BYTES = 1 << 30


@BASELINES.register("tree-knapsack")
class TreeKnapsack(RootedSubtree):
    """Trim the dependency tree to the budget, with an exact solution.

    Hirao et al. 2013, *Single-Document Summarization as a Tree Knapsack Problem*:

        maximise sum_u x_u W(u) / Depth(u)   subject to   sum_u x_u cost(u) <= budget,   x_u <= x_head(u)

    with `Depth` 1 at the root and `W(u) = sum_w log(1 + tf(w))` over the distinct content words w of unit u, tf
    counted in the document. The logarithm is that of Kikuchi et al. 2014 (Eq 15). Content words are found with
    scikit-learn's stop word list, since the papers give none. The tree over sentences follows the heads of their root
    EDUs (`sentence_heads`).
    """

    name = "tree-knapsack"

    def score(self, document: Document, unit: str) -> Scores:
        """Return `W(u) / Depth(u)` for every unit `(units,)`."""
        return term_weights(unit_texts(document, unit)) / (1.0 + depths(self.heads(document, unit)))

    def best(self, document: Document, scores: Scores, unit: str, subtrees: Subtrees, *, own: bool) -> list[int]:
        """Return the best rooted subtree, or the root alone if it exceeds the budget."""
        weights = np.bincount(subtrees.nodes, np.where(subtrees.counted, scores, 0.0)).astype(np.float64)
        return best_rooted_subtree(subtrees.heads, weights, subtrees.costs, subtrees.capacity)


def best_rooted_subtree(
    heads: NDArray[np.int64], weights: NDArray[np.float64], costs: NDArray[np.int64], capacity: int
) -> list[int]:
    """Return the units of the rooted subtree of greatest weight that costs no more than `capacity`.

    The solution is exact, by dynamic programming over the units in pre-order. If unit `i` is selected, its children,
    which begin at `i + 1`, may be selected too. If it is not, all `size(i)` units of its subtree are skipped:

        best(i, c) = max(weight(i) + best(i + 1, c - cost(i)), best(i + size(i), c))

    This takes O(units x capacity). (Hirao et al. 2013 use an integer program solver; the optimum is the same.)

    Args:
        heads: `(units,)` head of each unit, the root's being itself; the root is always selected, even over the budget.
        weights: `(units,)`.
        costs: `(units,)`, not negative.
        capacity: Budget in the same unit as `costs`.

    Raises:
        InputError: The solution would take more than `MOST_BYTES` of memory.
    """
    order, sizes = _pre_order(heads)
    count, left = len(order), min(capacity, int(costs.sum())) - int(costs[order[0]])
    if left < 0:
        return [int(order[0])]
    # The loop below counts down, so the last unit to read row i is the first one whose subtree ends just before i, or
    # i - 1. After it, the row is deleted.
    needed_until = np.arange(count + 1) - 1
    np.minimum.at(needed_until, np.arange(count) + sizes, np.arange(count))
    # Row i is in memory from step i down to step `needed_until[i]`.
    begun = np.bincount(np.maximum(needed_until[1:], 1), minlength=count + 1).cumsum()[1:]
    rows_together = int((begun - np.arange(count)).max()) + 2
    if (size := rows_together * 8 * (left + 1) + count * (left // 8 + 1)) > MOST_BYTES:
        raise InputError(
            f"tree-knapsack: expected a tree and a limit that take at most {MOST_BYTES >> 20:,} MiB, got {count:,} "
            f"units and a limit of {capacity:,}, which take {size >> 20:,} MiB; choose a lower limit (--units, "
            "--words, --ratio) or another model"
        )
    rows = {count: np.zeros(left + 1)}
    # Whether to select unit i, by remaining budget; one bit each.
    take = np.zeros((count, left // 8 + 1), dtype=np.uint8)
    for i in range(count - 1, 0, -1):
        cost, skipped = int(costs[order[i]]), rows[i + sizes[i]]
        with_it = np.full(left + 1, -np.inf)
        if cost <= left:
            with_it[cost:] = weights[order[i]] + rows[i + 1][: left + 1 - cost]
        take[i] = np.packbits(with_it > skipped)
        rows[i] = np.maximum(with_it, skipped)
        for row in {i + 1, i + int(sizes[i])}:
            if needed_until[row] >= i:
                del rows[row]
    selected, i = [int(order[0])], 1
    while i < count:
        if take[i, left // 8] >> (7 - left % 8) & 1:
            selected.append(int(order[i]))
            left -= int(costs[order[i]])
            i += 1
        else:
            i += int(sizes[i])
    return sorted(selected)


def _pre_order(heads: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the units in pre-order `(units,)` and, in that order, the sizes of their subtrees `(units,)`."""
    children: list[list[int]] = [[] for _ in heads]
    stack: list[int] = []
    for unit, head in enumerate(heads.tolist()):
        (stack if unit == head else children[head]).append(unit)
    order = []
    while stack:
        unit = stack.pop()
        order.append(unit)
        stack += reversed(children[unit])
    sizes = np.ones(len(heads), dtype=np.int64)
    for unit in order[:0:-1]:
        sizes[heads[unit]] += sizes[unit]
    return np.array(order, dtype=np.int64), sizes[order]


def content_words(texts: Sequence[str]) -> list[list[str]]:
    """Return the words of every text, without stop words."""
    from sklearn.feature_extraction.text import CountVectorizer

    analyze = CountVectorizer(stop_words="english").build_analyzer()
    return [analyze(text) for text in texts]


def term_weights(texts: Sequence[str]) -> NDArray[np.float64]:
    """Return `sum_w log(1 + tf(w))` over the distinct content words of every text `(texts,)`."""
    words = content_words(texts)
    frequency = Counter(word for unit in words for word in unit)
    return np.array([sum(np.log1p(frequency[word]) for word in sorted(set(unit))) for unit in words], dtype=np.float64)
