"""`bertsum` and `discobert-edu`: greedy by R1-F + R2-F over sets of n-grams, unstemmed."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from discsum.oracles.base import TOLERANCE

Words = NDArray[np.int64]


def bertsum(units: Sequence[str], references: Sequence[str], k: int | None = 3) -> list[int]:
    """Return the units found greedily by R1-F + R2-F over sets of n-grams, in document order.

    The labels of Liu and Lapata 2019: lower-cased words without stemming, every character but letters, digits and
    spaces removed; n-grams counted once; no bigrams across units. The first of equals wins; the search stops
    when no unit raises the sum, or at `k` units.

    Args:
        units: The units' texts.
        references: The reference summaries; several are read as one text.
        k: At most so many units; None for no limit.
    """
    return _greedy(units, references, [[index] for index in range(len(units))], k)


def discobert_edu(
    units: Sequence[str], references: Sequence[str], k: int | None, heads: NDArray[np.int64]
) -> list[int]:
    """Return the EDUs found greedily as `bertsum` does, each with the EDU of its sentence that it depends on.

    The labels of Xu et al. 2020 (DiscoBERT): a candidate is an EDU and its direct dependency within the sentence,
    scored and taken together; `k` counts candidates, so there may be up to twice as many labels.

    Args:
        units: The EDUs' texts.
        references: The reference summaries; several are read as one text.
        k: At most so many candidates; None for no limit.
        heads: `(edus,)` the EDU each depends on in its sentence, -1 for none (`in_sentence_heads`).
    """
    groups = [[index] if head < 0 else [index, head] for index, head in enumerate(heads.tolist())]
    return _greedy(units, references, groups, k)


def _greedy(
    units: Sequence[str], references: Sequence[str], groups: Sequence[Sequence[int]], k: int | None
) -> list[int]:
    """Return the units of the groups that are taken one after another while one raises the sum."""
    *texts, reference = _words([*units, " ".join(references)])
    measures = [_Overlap(reference, texts, groups, n) for n in (1, 2)]
    selected: list[int] = []
    best = 0.0
    while len(selected) < (len(groups) if k is None else min(k, len(groups))):
        # (groups,)
        total = measures[0].f() + measures[1].f()
        total[selected] = -1.0
        if total.max() <= best + TOLERANCE:
            break
        best = float(total.max())
        choice = int(np.flatnonzero(total >= best - TOLERANCE)[0])
        for measure in measures:
            measure.add(choice)
        selected.append(choice)
    return sorted({unit for choice in selected for unit in groups[choice]})


class _Overlap:
    """The sets of n-grams of all groups, and which of them the selection has.

    A group's n-gram is a row of two arrays, in any order: the group and the n-gram's number.
    """

    def __init__(self, reference: Words, units: Sequence[Words], groups: Sequence[Sequence[int]], n: int) -> None:
        codes = [_codes(words, n) for words in units]
        found = [np.concatenate([codes[member] for member in group]) for group in groups]
        owners = np.repeat(np.arange(len(groups)), [len(own) for own in found])
        grams, numbers = np.unique(np.concatenate([reference[:0], *found]), return_inverse=True)
        rows = np.unique(owners * len(grams) + numbers)
        self.owners, self.grams = np.divmod(rows, max(len(grams), 1))
        target = np.unique(_codes(reference, n))
        self.wanted = np.isin(grams, target)
        self.wished = len(target)
        self.covered = np.zeros(len(grams), dtype=bool)
        self.groups = len(groups)

    def f(self) -> NDArray[np.float64]:
        """Return F1 of the selection with each group added `(groups,)`."""
        new = ~self.covered[self.grams]
        hits = np.bincount(self.owners[new & self.wanted[self.grams]], minlength=self.groups)
        sizes = np.bincount(self.owners[new], minlength=self.groups) + self.covered.sum() + self.wished
        scores: NDArray[np.float64] = 2.0 * ((self.covered & self.wanted).sum() + hits) / np.maximum(sizes, 1)
        return scores

    def add(self, choice: int) -> None:
        """Add a group to the selection."""
        self.covered[self.grams[self.owners == choice]] = True


def _codes(words: Words, n: int) -> NDArray[np.int64]:
    """Return a number for each n-gram `(words - n + 1,)`, n 1 or 2."""
    return words if n == 1 else words[:-1] << 32 | words[1:]


def _words(texts: Sequence[str]) -> list[Words]:
    """Return the words of each text as numbers `(words,)`, equal words by equal numbers."""
    lines = "\n".join(" ".join(text.lower().split()) for text in texts)
    words = [line.split() for line in re.sub(r"[^a-z0-9 \n]+", "", lines).split("\n")]
    index = {word: number for number, word in enumerate(dict.fromkeys(chain.from_iterable(words)))}
    flat = np.fromiter(map(index.__getitem__, chain.from_iterable(words)), dtype=np.int64)
    return np.split(flat, np.cumsum([len(line) for line in words])[:-1])
