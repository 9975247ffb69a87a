"""The tree knapsack of Hirao et al. 2013: the best rooted subtree of the dependency tree within the budget."""

from __future__ import annotations

from collections import Counter

import numpy as np
from numpy.typing import NDArray

from discsum.baselines import BASELINES
from discsum.dependency import depths, edu_heads, sentence_heads
from discsum.document import Document
from discsum.errors import InputError
from discsum.scoring import Scores, UnitScorer
from discsum.selection import Policy, unit_texts


@BASELINES.register("tree-knapsack")
class TreeKnapsack(UnitScorer):
    """Trim the dependency tree to the budget, exactly.

    Hirao et al. 2013, *Single-Document Summarization as a Tree Knapsack Problem*:

        maximise sum_u x_u W(u) / Depth(u)   subject to   sum_u x_u cost(u) <= budget,   x_u <= x_head(u)

    with `Depth` 1 at the root and `W(u) = sum_w log(1 + tf(w))` over the distinct content words w of unit u, tf
    counted in the document. The logarithm is that of Kikuchi et al. 2014 (Eq 15); stop words are left
    out, since no list of them is given. Sentences hang together as their root EDUs do (`sentence_heads`).
    """

    name = "tree-knapsack"
    needs_tree = True
    own_selection = True

    def score(self, document: Document, unit: str) -> Scores:
        """Return `W(u) / Depth(u)` for every unit `(units,)`."""
        return term_weights(unit_texts(document, unit)) / (1.0 + depths(_heads(document, unit)))

    def select(self, document: Document, scores: Scores, policy: Policy) -> list[int]:
        """Return the best rooted subtree, or the root alone if it exceeds the budget.

        Every ancestor of a selected unit is selected by construction, so `policy.dependencies` holds.

        Raises:
            InputError: Trigram blocking, which this problem does not include.
        """
        if policy.block_trigrams:
            raise InputError(
                f"block_trigrams: expected none with {self.name}, which selects all units at once; leave it out"
            )
        candidates = policy.candidates(document)
        costs, capacity = policy.budget.costs(document, policy.unit, candidates)
        # Layout has neither weight nor cost; a clause is one unit of the tree.
        first, group = np.unique(candidates.groups, return_inverse=True)
        heads = group[_heads(document, policy.unit)[first]]
        weights = np.bincount(group, np.where(candidates.companions, scores, 0.0))
        # Each unit pays for the speaker's label of its turn, so that the label always fits.
        labels = candidates.labels
        paid = costs + np.where(labels >= 0, costs[labels], 0)
        prices = np.bincount(group, np.where(candidates.companions, paid, 0)).astype(np.int64)
        chosen = best_rooted_subtree(heads, weights.astype(np.float64), prices, capacity)
        selected = np.flatnonzero(np.isin(group, chosen) & candidates.companions)
        if candidates.allowed[selected].any():
            return sorted({*selected.tolist(), *labels[selected][labels[selected] >= 0].tolist()})
        return candidates.together(int(np.argmax(np.where(candidates.allowed, scores, -np.inf))))


def best_rooted_subtree(
    heads: NDArray[np.int64], weights: NDArray[np.float64], costs: NDArray[np.int64], capacity: int
) -> list[int]:
    """Return the units of the rooted subtree of greatest weight that costs no more than `capacity`.

    Exact, by dynamic programming over the units in pre-order: with `i` selected its children may follow,
    which begin at `i + 1`; without it nothing below it may, so all `size(i)` units of its subtree are passed over:

        best(i, c) = max(weight(i) + best(i + 1, c - cost(i)), best(i + size(i), c))

    in O(units x capacity). (Hirao et al. 2013 call an integer program solver; the optimum is the same, but
    HiGHS, the one in SciPy, sometimes prints to standard output, which is for the summaries.)

    Args:
        heads: `(units,)`, the root pointing at itself; the root is always selected, even over the budget.
        weights: `(units,)`.
        costs: `(units,)`, not negative.
        capacity: In the unit of `costs`.
    """
    order, sizes = _pre_order(heads)
    count, left = len(order), min(capacity, int(costs.sum())) - int(costs[order[0]])
    if left <= 0:
        return [int(order[0])]
    # Row i is read last by the first unit whose subtree ends before i (or by i - 1): then it can go.
    needed_until = np.arange(count + 1) - 1
    np.minimum.at(needed_until, np.arange(count) + sizes, np.arange(count))
    rows = {count: np.zeros(left + 1)}
    take = np.zeros((count, left + 1), dtype=bool)
    for i in range(count - 1, 0, -1):
        cost, skipped = int(costs[order[i]]), rows[i + sizes[i]]
        with_it = np.full(left + 1, -np.inf)
        if cost <= left:
            with_it[cost:] = weights[order[i]] + rows[i + 1][: left + 1 - cost]
        take[i] = with_it > skipped
        rows[i] = np.maximum(with_it, skipped)
        for row in {i + 1, i + int(sizes[i])}:
            if needed_until[row] >= i:
                del rows[row]
    selected, i = [int(order[0])], 1
    while i < count:
        if take[i, left]:
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


def term_weights(texts: tuple[str, ...]) -> NDArray[np.float64]:
    """Return `sum_w log(1 + tf(w))` over the distinct content words of every text `(texts,)`."""
    from sklearn.feature_extraction.text import CountVectorizer

    analyze = CountVectorizer(stop_words="english").build_analyzer()
    words = [analyze(text) for text in texts]
    frequency = Counter(word for unit in words for word in unit)
    return np.array([sum(np.log1p(frequency[word]) for word in sorted(set(unit))) for unit in words], dtype=np.float64)


def _heads(document: Document, unit: str) -> NDArray[np.int64]:
    heads = edu_heads(document.require_tree(TreeKnapsack.name))
    if unit == "edu":
        return heads
    return sentence_heads(heads, document.edu_to_sentence, len(document.sentences))
