"""`kedzie`: greedy by ROUGE-1 recall, stemmed, stop words removed, at most 100 words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import cache

import numpy as np
from numpy.typing import NDArray

from discsum.metrics.rouge_words import plain_words, stem
from discsum.oracles import ORACLES
from discsum.oracles.base import TOLERANCE

WORDS = 100


@ORACLES.register("kedzie")
def kedzie(units: Sequence[str], references: Sequence[str], k: int | None = None) -> list[int]:
    """Return the units found greedily by ROUGE-1 recall, in document order.

    The labels of Kedzie et al. 2018, which Xiao et al. 2020 train on: each step adds the unit that raises recall most
    (ties: the first) out of those with which the summary stays within `WORDS` white-space separated words; it
    stops when none raises it. Words are those of rouge-score with its stemmer, without scikit-learn's English stop
    words, which stand in for the list of the ROUGE-1.5.5 script. With several references recall is the best over them.

    Args:
        units: The units' texts.
        references: The reference summaries.
        k: Maximum number of units; no limit but the words by default.
    """
    goals = [Counter(content_words(text)) for text in references]
    words = [Counter(content_words(unit)) for unit in units]
    lengths = np.array([len(unit.split()) for unit in units], dtype=np.int64)
    # One row of counts per unit, only for the words of each reference: `(units, words)`.
    counts = [
        np.array([own[word] for own in words for word in goal], dtype=np.int64).reshape(len(units), len(goal))
        for goal in goals
    ]
    limits = [np.array(list(goal.values()), dtype=np.int64) for goal in goals]
    totals = [max(1, int(limit.sum())) for limit in limits]
    covered = [np.zeros(len(goal), dtype=np.int64) for goal in goals]
    selected: list[int] = []
    best = 0.0
    while len(selected) < (len(units) if k is None else min(k, len(units))):
        recalls: NDArray[np.float64] = np.max(
            [
                np.minimum(have + own, limit).sum(axis=1) / total
                for have, own, limit, total in zip(covered, counts, limits, totals, strict=True)
            ],
            axis=0,
        )
        recalls[selected] = -1.0
        recalls[lengths + lengths[selected].sum() > WORDS] = -1.0
        if recalls.max() <= best + TOLERANCE:
            break
        best = float(recalls.max())
        choice = int(np.flatnonzero(recalls >= best - TOLERANCE)[0])
        covered = [have + own[choice] for have, own in zip(covered, counts, strict=True)]
        selected.append(choice)
    return sorted(selected)


def content_words(text: str) -> list[str]:
    """Return the stemmed words of a text without stop words."""
    stop_words = _stop_words()
    return [stem(word) for word in plain_words(text) if word not in stop_words]


@cache
def _stop_words() -> frozenset[str]:
    from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

    return frozenset(ENGLISH_STOP_WORDS)
