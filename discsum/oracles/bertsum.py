"""`bertsum` and `discobert-edu`: greedy by R1-F + R2-F over sets of n-grams, unstemmed."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from discsum.oracles.base import TOLERANCE, ngrams


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
    reference = _clean(" ".join(references))
    texts = [_clean(unit) for unit in units]
    measures = [_Overlap(reference, texts, groups, n) for n in (1, 2)]
    selected: list[int] = []
    best = 0.0
    while len(selected) < (len(groups) if k is None else min(k, len(groups))):
        # (groups,)
        total = np.sum([measure.f() for measure in measures], axis=0)
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
    """How many n-grams each group would add to the selection, and how many of them the reference has."""

    def __init__(self, reference: list[str], texts: list[list[str]], groups: Sequence[Sequence[int]], n: int) -> None:
        self.wanted = set(ngrams(reference, n))
        grams = [set(ngrams(text, n)) for text in texts]
        self.groups = [set().union(*(grams[member] for member in members)) for members in groups]
        self.having: dict[tuple[str, ...], list[int]] = {}
        for group, own in enumerate(self.groups):
            for gram in own:
                self.having.setdefault(gram, []).append(group)
        self.new = np.array([len(own) for own in self.groups], dtype=np.int64)
        self.hits = np.array([len(own & self.wanted) for own in self.groups], dtype=np.int64)
        self.covered: set[tuple[str, ...]] = set()
        self.found = 0

    def f(self) -> NDArray[np.float64]:
        """Return F1 of the selection with each group added `(groups,)`."""
        sizes = len(self.covered) + self.new + len(self.wanted)
        scores: NDArray[np.float64] = 2.0 * (self.found + self.hits) / np.maximum(sizes, 1)
        return scores

    def add(self, choice: int) -> None:
        """Add a group to the selection."""
        for gram in self.groups[choice] - self.covered:
            having = self.having[gram]
            self.new[having] -= 1
            if gram in self.wanted:
                self.hits[having] -= 1
                self.found += 1
        self.covered |= self.groups[choice]


def _clean(text: str) -> list[str]:
    return re.sub(r"[^a-z0-9 ]", "", " ".join(text.lower().split())).split()
