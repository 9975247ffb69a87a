"""Oracle labels: the units that a greedy search with the reference at hand would select, by name in `ORACLES`."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from discsum.errors import InputError

# A gain below this is rounding, so equal candidates stay equal and the first one wins.
_TOLERANCE = 1e-12


def rouge12_f(units: Sequence[str], references: Sequence[str], k: int | None = None) -> list[int]:
    """Return the units found greedily by exact R1-F + R2-F, in document order.

    Each step adds the unit that raises ROUGE-1 F + ROUGE-2 F of the whole selection most, the first of equals,
    and the search stops when none raises it. Scores are those of rouge-score with its stemmer on the units
    in document order, bigrams across unit ends included; with several references each of the two is the best over
    them.

    Args:
        units: The units' texts.
        references: The reference summaries.
        k: At most so many units; no limit by default.
    """
    from nltk.stem.porter import PorterStemmer
    from rouge_score.tokenize import tokenize

    stemmer = PorterStemmer()
    tokens = [tokenize(unit, stemmer) for unit in units]
    # A unit without any token changes no count: it can neither gain nor stand between two others.
    candidates = [index for index, words in enumerate(tokens) if words]
    targets = [_Target(tokenize(text, stemmer), [tokens[index] for index in candidates]) for text in references]
    lengths = np.array([len(tokens[index]) for index in candidates], dtype=np.int64)
    selected: list[int] = []
    best = 0.0
    while len(selected) < min(len(candidates), len(candidates) if k is None else k):
        # (candidates,) each: the best over the references
        unigram = np.max([target.unigram_f(lengths) for target in targets], axis=0)
        bigram = np.max([target.bigram_f(lengths, selected) for target in targets], axis=0)
        total = unigram + bigram
        total[selected] = -1.0
        if total.max() <= best + _TOLERANCE:
            break
        best = float(total.max())
        # First of equals
        choice = int(np.flatnonzero(total >= best - _TOLERANCE)[0])
        for target in targets:
            target.add(choice, selected)
        selected = sorted([*selected, choice])
    return [candidates[index] for index in selected]


class _Target:
    """One reference: how often each of its n-grams is in the selection and in every candidate."""

    def __init__(self, reference: list[str], candidates: list[list[str]]) -> None:
        """Count the reference's n-grams in every candidate: `(candidates, n-grams)`."""
        self.reference = [_ngrams(reference, n) for n in (1, 2)]
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
            for gram, count in _ngrams(words, n).items():
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


def bertsum(units: Sequence[str], references: Sequence[str], k: int | None = 3) -> list[int]:
    """Return the units found greedily by R1-F + R2-F over sets of n-grams, in document order.

    The labels of Liu and Lapata 2019 (and, with `k=5`, of DiscoBERT): lower-cased words without stemming, every
    character but letters, digits and spaces removed; n-grams counted once; no bigrams across units. The
    first of equals wins; the search stops when no unit raises the sum, or at `k` units.

    Args:
        units: The units' texts.
        references: The reference summaries; several are read as one text.
        k: At most so many units; None for no limit.
    """
    reference = _clean(" ".join(references))
    goals = [set(_ngrams(reference, n)) for n in (1, 2)]
    grams = [[set(_ngrams(words, n)) for n in (1, 2)] for words in map(_clean, units)]
    covered: list[set[tuple[str, ...]]] = [set(), set()]
    selected: list[int] = []
    best = 0.0
    while len(selected) < (len(units) if k is None else k):
        choice = -1
        for index, own in enumerate(grams):
            if index in selected:
                continue
            score = sum(_set_f(*parts) for parts in zip(covered, own, goals, strict=True))
            if score > best + _TOLERANCE:
                best, choice = score, index
        if choice < 0:
            break
        selected.append(choice)
        covered = [have | own for have, own in zip(covered, grams[choice], strict=True)]
    return sorted(selected)


def _set_f(covered: set[tuple[str, ...]], own: set[tuple[str, ...]], goal: set[tuple[str, ...]]) -> float:
    """Return F1 of `covered | own` against `goal`, from what `own` adds."""
    new = own - covered
    overlap = len(covered & goal) + len(new & goal)
    return 2 * overlap / (len(covered) + len(new) + len(goal)) if overlap else 0.0


def _clean(text: str) -> list[str]:
    return re.sub(r"[^a-z0-9 ]", "", " ".join(text.lower().split())).split()


def _ngrams(tokens: Sequence[str], n: int) -> Counter[tuple[str, ...]]:
    return Counter(zip(*(tokens[start:] for start in range(n)), strict=False))


def _f(hits: NDArray[np.int64], lengths: NDArray[np.int64], reference: int) -> NDArray[np.float64]:
    """Return F1 `2 hits / (candidate's n-grams + reference's n-grams)`, 0 where there are none."""
    return 2.0 * hits / np.maximum(lengths + reference, 1)


ORACLES: dict[str, Callable[[Sequence[str], Sequence[str], int | None], list[int]]] = {
    "rouge12-f": rouge12_f,
    "bertsum": bertsum,
}
# The limit that each one's paper sets.
LIMITS: dict[str, int | None] = {"rouge12-f": None, "bertsum": 3}


def oracle_labels(
    name: str, units: Sequence[str], references: str | Sequence[str], k: int | None = None
) -> NDArray[np.int8]:
    """Return 1 for every unit of the oracle summary and 0 for the others `(units,)`.

    Args:
        name: One of `ORACLES`.
        units: The units' texts.
        references: The reference summary, or several.
        k: At most so many units; by default what the oracle's paper sets (`LIMITS`).

    Raises:
        InputError: An unknown name (the message lists the choices), or no reference.
    """
    if name not in ORACLES:
        raise InputError(f"expected an oracle out of {', '.join(ORACLES)}, got {name!r}")
    texts = [references] if isinstance(references, str) else list(references)
    if not any(text.strip() for text in texts):
        raise InputError("expected a reference summary to make oracle labels, got none")
    labels = np.zeros(len(units), dtype=np.int8)
    labels[ORACLES[name](units, texts, LIMITS[name] if k is None else k)] = 1
    return labels
