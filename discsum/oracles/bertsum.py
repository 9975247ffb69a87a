"""`bertsum`: greedy search by R1-F + R2-F over sets of unstemmed n-grams (Liu and Lapata 2019)."""

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
    """Select units greedily by R1-F + R2-F over sets of n-grams; return them in document order.

    These are the labels of Liu and Lapata 2019. Words are lower-cased and not stemmed, and all characters except
    letters, digits and spaces are removed. Each n-gram counts once, no bigram crosses units, and several references are
    joined into one text. Ties go to the first unit. The search stops when no unit raises the sum, or at `k` units.
    """
    return select_groups(units, references, [[index] for index in range(len(units))], k)


def select_groups(
    units: Sequence[str], references: Sequence[str], groups: Sequence[Sequence[int]], k: int | None
) -> list[int]:
    """Select at most `k` groups as in `bertsum`, scoring and selecting each group as a whole; return their units."""
    *texts, reference = _words([*units, " ".join(references)])
    overlaps = [_Overlap(reference, texts, groups, n) for n in (1, 2)]
    chosen = greedy(len(groups), k, lambda selected: overlaps[0].f(selected) + overlaps[1].f(selected))
    return sorted({unit for choice in chosen for unit in groups[choice]})


class _Overlap:
    """The n-grams that each group would add to the selection, split into reference n-grams and others."""

    def __init__(self, reference: Words, units: Sequence[Words], groups: Sequence[Sequence[int]], n: int) -> None:
        target = _grams(reference, n)
        own = [_grams(words, n) for words in units]
        added = [set().union(*(own[member] for member in group)) for group in groups]
        self.hits = [grams & target for grams in added]
        self.others = [grams - target for grams in added]
        self.covered = 0
        # Number of n-grams of the selection plus number of n-grams of the reference.
        self.size = len(target)

    def f(self, selected: list[int]) -> NDArray[np.float64]:
        """Return the F1 `(groups,)` of the selection with each group added.

        Between calls, the selection must grow by one group, the last of `selected`.
        """
        if selected:
            # Copied because the loop below also empties the group's own sets.
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
    """Return the set of n-grams, for n 1 or 2."""
    return set(words) if n == 1 else set(pairwise(words))


def _words(texts: Sequence[str]) -> list[Words]:
    """Return the lower-cased words of each text, after removing all characters except letters, digits and spaces."""
    lines = "\n".join(" ".join(text.lower().split()) for text in texts)
    return [line.split() for line in re.sub(r"[^a-z0-9 \n]+", "", lines).split("\n")]
