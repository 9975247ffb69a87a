"""`rouge12-f`: greedy search by exact, stemmed R1-F + R2-F, the measures used for evaluation."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from discsum.metrics.rouge_words import stemmed_words
from discsum.oracles import ORACLES
from discsum.oracles.base import greedy

Gram = tuple[str | None, ...]


@ORACLES.register("rouge12-f")
def rouge12_f(units: Sequence[str], references: Sequence[str], k: int | None = None) -> list[int]:
    """Select units greedily by exact R1-F + R2-F; return them in document order.

    Each step adds the unit that raises ROUGE-1 F + ROUGE-2 F of the whole selection most (ties: the first). The search
    stops when none raises it, or at `k` units. Scores equal those of rouge-score with its stemmer on the units in
    document order, including bigrams across unit boundaries. With several references, each of the two scores is the
    best over them.
    """
    candidates, targets = _counted(units, references)

    def scores(selected: list[int]) -> NDArray[np.float64]:
        # Best over the references, separately for each n.
        best = np.max([target.f(sorted(selected)) for target in targets], axis=0)
        total: NDArray[np.float64] = best.sum(axis=0)
        return total

    return [candidates[index] for index in sorted(greedy(len(candidates), k, scores))]


def unit_gains(units: Sequence[str], references: Sequence[str]) -> NDArray[np.float64]:
    """Return the R1-F + R2-F of each unit as a summary `(units,)`, from 0 to 2.

    These are the scores of the first step of `rouge12_f`: each of the two is the best over the references. Units
    without tokens score 0.
    """
    candidates, targets = _counted(units, references)
    gains = np.zeros(len(units))
    if candidates:
        gains[candidates] = np.max([target.f([]) for target in targets], axis=0).sum(axis=0)
    return gains


def _counted(units: Sequence[str], references: Sequence[str]) -> tuple[list[int], list[_Target]]:
    """Return the candidates, as indices of units, and the references with their n-grams in each candidate."""
    tokens = [stemmed_words(unit) for unit in units]
    # Units without tokens are no candidates: they cannot raise a score and must not separate two neighbours.
    candidates = [index for index, words in enumerate(tokens) if words]
    return candidates, [_Target(stemmed_words(text), [tokens[index] for index in candidates]) for text in references]


class _Target:
    """A reference, with the counts of its unigrams and bigrams in every candidate."""

    def __init__(self, reference: list[str], candidates: list[list[str]]) -> None:
        """Count the reference's n-grams in every candidate, `(candidates, n-grams)` for each n."""
        targets = [_ngrams(reference, n) for n in (1, 2)]
        self.limits = [np.array(list(grams.values()), dtype=np.int64) for grams in targets]
        self.index = [{gram: place for place, gram in enumerate(grams)} for grams in targets]
        self.counts = [np.zeros((len(candidates), len(grams)), dtype=np.int64) for grams in targets]
        for n, index, counts in zip((1, 2), self.index, self.counts, strict=True):
            for row, words in enumerate(candidates):
                for gram, count in _ngrams(words, n).items():
                    if gram in index:
                        counts[row, index[gram]] = count
        self.lengths = np.array([len(words) for words in candidates], dtype=np.int64)
        # First and last word of each candidate; index -1 stands for no candidate.
        self.ends = [*((words[0], words[-1]) for words in candidates), (None, None)]

    def f(self, selected: list[int]) -> NDArray[np.float64]:
        """Return ROUGE-1 F and ROUGE-2 F `(2, candidates)` of the selection with each candidate inserted in order."""
        counts = [own + own[selected].sum(axis=0) for own in self.counts]
        # Bigrams across unit boundaries: those in the selection, and those that inserting a candidate adds and removes.
        bigrams = self.index[1]
        for one, other in pairwise(selected):
            joint = self.ends[one][1], self.ends[other][0]
            if joint in bigrams:
                counts[1][:, bigrams[joint]] += 1
        neighbours = [-1, *selected, -1]
        for candidate, (first, last) in enumerate(self.ends[:-1]):
            place = bisect_left(selected, candidate)
            before, after = self.ends[neighbours[place]][1], self.ends[neighbours[place + 1]][0]
            for joint, change in (((before, first), 1), ((last, after), 1), ((before, after), -1)):
                if joint in bigrams:
                    counts[1][candidate, bigrams[joint]] += change
        hits = np.array([np.minimum(own, limit).sum(axis=1) for own, limit in zip(counts, self.limits, strict=True)])
        length = self.lengths + self.lengths[selected].sum()
        sizes = np.array([length + n + limit.sum() for n, limit in zip((0, -1), self.limits, strict=True)])
        scores: NDArray[np.float64] = 2.0 * hits / np.maximum(sizes, 1)
        return scores


def _ngrams(words: list[str], n: int) -> Counter[Gram]:
    """Return the count of each n-gram, for n 1 or 2."""
    return Counter(zip(words) if n == 1 else pairwise(words))
