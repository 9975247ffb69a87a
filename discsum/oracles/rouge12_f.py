"""`rouge12-f`: greedy by exact, stemmed R1-F + R2-F, which is what summaries are measured by."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from discsum.metrics.rouge_words import stemmed_words
from discsum.oracles import ORACLES
from discsum.oracles.base import TOLERANCE, ngrams


@ORACLES.register("rouge12-f")
def rouge12_f(units: Sequence[str], references: Sequence[str], k: int | None = None) -> list[int]:
    """Return the units found greedily by exact R1-F + R2-F, in document order.

    Each step adds the unit that raises ROUGE-1 F + ROUGE-2 F of the whole selection most (ties: the first),
    and the search stops when none raises it. Scores are those of rouge-score with its stemmer on the units
    in document order, bigrams across unit ends included; with several references each of the two is the best over
    them.

    Args:
        units: The units' texts.
        references: The reference summaries.
        k: Maximum number of units; no limit by default.
    """
    tokens = [stemmed_words(unit) for unit in units]
    # A unit without any token changes no count: it can neither gain nor stand between two others.
    candidates = [index for index, words in enumerate(tokens) if words]
    targets = [_Target(stemmed_words(text), [tokens[index] for index in candidates]) for text in references]
    lengths = np.array([len(tokens[index]) for index in candidates], dtype=np.int64)
    selected: list[int] = []
    best = 0.0
    while len(selected) < min(len(candidates), len(candidates) if k is None else k):
        # (candidates,) each: the best over the references
        unigram = np.max([target.unigram_f(lengths) for target in targets], axis=0)
        bigram = np.max([target.bigram_f(lengths, selected) for target in targets], axis=0)
        total = unigram + bigram
        total[selected] = -1.0
        if total.max() <= best + TOLERANCE:
            break
        best = float(total.max())
        # Ties: the first
        choice = int(np.flatnonzero(total >= best - TOLERANCE)[0])
        for target in targets:
            target.add(choice, selected)
        selected = sorted([*selected, choice])
    return [candidates[index] for index in selected]


class _Target:
    """One reference: how often each of its n-grams is in the selection and in every candidate."""

    def __init__(self, reference: list[str], candidates: list[list[str]]) -> None:
        """Count the reference's n-grams in every candidate: `(candidates, n-grams)`."""
        self.reference = [ngrams(reference, n) for n in (1, 2)]
        self.index: list[dict[tuple[str | None, ...], int]] = [
            {gram: i for i, gram in enumerate(grams)} for grams in self.reference
        ]
        self.limits = [np.array(list(grams.values()), dtype=np.int64) for grams in self.reference]
        self.candidates = [self._count(candidates, n) for n in (1, 2)]
        self.counts = [np.zeros(len(grams), dtype=np.int64) for grams in self.reference]
        self.ends = [(words[0], words[-1]) for words in candidates]
        self.sizes = [len(words) for words in candidates]
        self.length = 0

    def _count(self, candidates: list[list[str]], n: int) -> NDArray[np.int64]:
        index = self.index[n - 1]
        counts = np.zeros((len(candidates), len(index)), dtype=np.int64)
        for row, words in enumerate(candidates):
            for gram, count in ngrams(words, n).items():
                if gram in index:
                    counts[row, index[gram]] = count
        return counts

    def unigram_f(self, lengths: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return ROUGE-1 F of the selection with each candidate added `(candidates,)`."""
        hits = np.minimum(self.counts[0] + self.candidates[0], self.limits[0]).sum(axis=1)
        return _f(hits, self.length + lengths, int(self.limits[0].sum()))

    def bigram_f(self, lengths: NDArray[np.int64], selected: list[int]) -> NDArray[np.float64]:
        """Return ROUGE-2 F of the selection with each candidate inserted in its place `(candidates,)`."""
        counts = self.counts[1] + self.candidates[1]
        for candidate in range(len(lengths)):
            for gram, change in self._joints(candidate, selected):
                counts[candidate, gram] += change
        hits = np.minimum(counts, self.limits[1]).sum(axis=1)
        return _f(hits, self.length + lengths - 1, int(self.limits[1].sum()))

    def add(self, choice: int, selected: list[int]) -> None:
        """Insert the candidate into the selection."""
        self.counts = [counts + own[choice] for counts, own in zip(self.counts, self.candidates, strict=True)]
        for gram, change in self._joints(choice, selected):
            self.counts[1][gram] += change
        self.length += self.sizes[choice]

    def _joints(self, candidate: int, selected: list[int]) -> list[tuple[int, int]]:
        """Return the bigrams of the reference that inserting the candidate makes (+1) and breaks (-1)."""
        place = bisect_left(selected, candidate)
        before = self.ends[selected[place - 1]][1] if place else None
        after = self.ends[selected[place]][0] if place < len(selected) else None
        first, last = self.ends[candidate]
        changes = (((before, first), 1), ((last, after), 1), ((before, after), -1))
        return [(self.index[1][gram], change) for gram, change in changes if gram in self.index[1]]


def _f(hits: NDArray[np.int64], lengths: NDArray[np.int64], reference: int) -> NDArray[np.float64]:
    """Return F1 `2 hits / (candidate's n-grams + reference's n-grams)`, 0 where there are none."""
    return 2.0 * hits / np.maximum(lengths + reference, 1)
