"""`kedzie`: greedy search by ROUGE-1 recall, stemmed, without stop words, up to 100 words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from discsum.metrics.rouge_words import plain_words, stem
from discsum.oracles import ORACLES
from discsum.oracles.base import greedy

WORDS = 100


@ORACLES.register("kedzie")
def kedzie(units: Sequence[str], references: Sequence[str], k: int | None = None) -> list[int]:
    """Select units greedily by ROUGE-1 recall; return them in document order.

    These are the labels of Kedzie et al. 2018, which Xiao et al. 2020 train on. Each step adds the unit that raises
    recall most (ties: the first), among those that keep the summary within `WORDS` white-space separated words. The
    search stops when none raises recall. Words are tokenised and stemmed as in rouge-score, without scikit-learn's
    English stop words, which replace the list of the ROUGE-1.5.5 script. With several references, recall is the best
    over them. `k` is the maximum number of units; by default only the words are limited.
    """
    goals = [Counter(content_stems(text)) for text in references]
    words = [Counter(content_stems(unit)) for unit in units]
    lengths = np.array([len(unit.split()) for unit in units], dtype=np.int64)
    # Counts `(units, words)` for each reference, only of the reference's words.
    counts = [
        np.array([own[word] for own in words for word in goal], dtype=np.int64).reshape(len(units), len(goal))
        for goal in goals
    ]
    limits = [np.array(list(goal.values()), dtype=np.int64) for goal in goals]

    def recalls(selected: list[int]) -> NDArray[np.float64]:
        found: NDArray[np.float64] = np.max(
            [
                np.minimum(own[selected].sum(axis=0) + own, limit).sum(axis=1) / max(1, int(limit.sum()))
                for own, limit in zip(counts, limits, strict=True)
            ],
            axis=0,
        )
        found[lengths + lengths[selected].sum() > WORDS] = -1.0
        return found

    return sorted(greedy(len(units), k, recalls))


def content_stems(text: str) -> list[str]:
    """Return the stemmed words of a text without stop words."""
    # Imported late because scikit-learn is slow to import.
    from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

    return [stem(word) for word in plain_words(text) if word not in ENGLISH_STOP_WORDS]
