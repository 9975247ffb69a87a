"""Greedy search by R1-F + R2-F over sets of n-grams, unstemmed: what `bertsum` and `discobert-edu` share."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

from discsum.oracles.base import TOLERANCE

Words = list[str]
Gram = str | tuple[str, str]


def greedy(
    units: Sequence[str], references: Sequence[str], groups: Sequence[Sequence[int]], k: int | None
) -> list[int]:
    """Return the units of the groups that are taken one after another while one raises the sum, in document order.

    Args:
        units: The units' texts.
        references: The reference summaries; several are read as one text.
        groups: Units that are scored and taken together.
        k: Maximum number of groups; None for no limit.
    """
    *texts, reference = _words([*units, " ".join(references)])
    measures = [_Overlap(reference, texts, groups, n) for n in (1, 2)]
    selected: list[int] = []
    best = 0.0
    while len(selected) < (len(groups) if k is None else min(k, len(groups))):
        totals = [one + two for one, two in zip(measures[0].f(), measures[1].f(), strict=True)]
        for taken in selected:
            totals[taken] = -1.0
        if max(totals) <= best + TOLERANCE:
            break
        best = max(totals)
        choice = next(index for index, total in enumerate(totals) if total >= best - TOLERANCE)
        for measure in measures:
            measure.add(choice)
        selected.append(choice)
    return sorted({unit for choice in selected for unit in groups[choice]})


class _Overlap:
    """The sets of n-grams that each group would add to the selection, those of the reference and others apart."""

    def __init__(self, reference: Words, units: Sequence[Words], groups: Sequence[Sequence[int]], n: int) -> None:
        target = _grams(reference, n)
        own = [_grams(words, n) for words in units]
        found = [own[group[0]].union(*(own[member] for member in group[1:])) for group in groups]
        self.hits = [grams & target for grams in found]
        self.others = [grams - target for grams in found]
        self.covered = 0
        # N-grams of the selection and the reference together, those of both counted twice.
        self.size = len(target)

    def f(self) -> list[float]:
        """Return F1 of the selection with each group added `(groups,)`."""
        sizes = zip(map(len, self.hits), map(len, self.others), strict=True)
        return [2.0 * (self.covered + hits) / max(1, self.size + hits + others) for hits, others in sizes]

    def add(self, choice: int) -> None:
        """Add a group to the selection."""
        # Copies: the group's own sets are emptied too.
        hits, others = self.hits[choice].copy(), self.others[choice].copy()
        self.covered += len(hits)
        self.size += len(hits) + len(others)
        for group_hits, group_others in zip(self.hits, self.others, strict=True):
            group_hits.difference_update(hits)
            group_others.difference_update(others)


def _grams(words: Words, n: int) -> set[Gram]:
    """Return the different n-grams, n 1 or 2."""
    return set(words) if n == 1 else set(pairwise(words))


def _words(texts: Sequence[str]) -> list[Words]:
    """Return the words of each text, without every character but letters, digits and spaces."""
    lines = "\n".join(" ".join(text.lower().split()) for text in texts)
    return [line.split() for line in re.sub(r"[^a-z0-9 \n]+", "", lines).split("\n")]
