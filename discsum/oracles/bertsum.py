"""`bertsum`: greedy by R1-F + R2-F over sets of n-grams, unstemmed (Liu and Lapata 2019)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from discsum.oracles import ORACLES
from discsum.oracles.base import greedy

Words = list[str]
Gram = str | tuple[str, str]


@ORACLES.register("bertsum", units=3)
def bertsum(units: Sequence[str], references: Sequence[str], k: int | None = 3) -> list[int]:
    """Return the units found greedily by R1-F + R2-F over sets of n-grams, in document order.

    The labels of Liu and Lapata 2019: lower-cased words without stemming, every character but letters, digits and
    spaces removed; n-grams counted once; no bigrams across units; several references read as one text. Ties go to the
    first unit; the search stops when no unit raises the sum, or at `k` units.
    """
    return select_groups(units, references, [[index] for index in range(len(units))], k)


def select_groups(
    units: Sequence[str], references: Sequence[str], groups: Sequence[Sequence[int]], k: int | None
) -> list[int]:
    """Return the units of at most `k` groups, found as by `bertsum`, each group scored and taken together."""
    *texts, reference = _words([*units, " ".join(references)])
    overlaps = [_Overlap(reference, texts, groups, n) for n in (1, 2)]
    chosen = greedy(len(groups), k, lambda selected: overlaps[0].f(selected) + overlaps[1].f(selected))
    return sorted({unit for choice in chosen for unit in groups[choice]})


class _Overlap:
    """The n-grams that each group would add to the selection: those of the reference, and others."""

    def __init__(self, reference: Words, units: Sequence[Words], groups: Sequence[Sequence[int]], n: int) -> None:
        target = _grams(reference, n)
        own = [_grams(words, n) for words in units]
        added = [set().union(*(own[member] for member in group)) for group in groups]
        self.hits = [grams & target for grams in added]
        self.others = [grams - target for grams in added]
        self.covered = 0
        # N-grams of the selection plus those of the reference.
        self.size = len(target)

    def f(self, selected: list[int]) -> NDArray[np.float64]:
        """Return F1 of the selection, which has grown by its last group, with each group added `(groups,)`."""
        if selected:
            # Copies: the group's own sets are emptied too.
            hits, others = self.hits[selected[-1]].copy(), self.others[selected[-1]].copy()
            self.covered += len(hits)
            self.size += len(hits) + len(others)
            for group_hits, group_others in zip(self.hits, self.others, strict=True):
                group_hits.difference_update(hits)
                group_others.difference_update(others)
        new_hits, new_others = (np.array([len(grams) for grams in sets]) for sets in (self.hits, self.others))
        scores: NDArray[np.float64] = 2.0 * (self.covered + new_hits) / np.maximum(1, self.size + new_hits + new_others)
        return scores


def _grams(words: Words, n: int) -> set[Gram]:
    """Return the different n-grams, n 1 or 2."""
    return set(words) if n == 1 else set(pairwise(words))


def _words(texts: Sequence[str]) -> list[Words]:
    """Return the words of each text, without every character but letters, digits and spaces."""
    lines = "\n".join(" ".join(text.lower().split()) for text in texts)
    return [line.split() for line in re.sub(r"[^a-z0-9 \n]+", "", lines).split("\n")]
