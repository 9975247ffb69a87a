"""The order in which units are selected, with a penalty for repetition."""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from discsum.errors import InputError
from discsum.writing import WORD_OR_NUMBER

# Log-odds of 0 and 1 are infinite, so scores are clipped to this distance from them.
_TINY = 1e-6


class Ranking:
    """Units in the order in which they are selected: by score, ties by position.

    A unit's score is reduced by `redundancy` times the share of its bigrams that are in the summary: maximal marginal
    relevance (Carbonell and Goldstein 1998) with shared bigrams as similarity. Iterate over it, and `add` each unit
    that is selected in the meantime.
    """

    def __init__(
        self, values: NDArray[np.float64], texts: Sequence[str], allowed: Iterable[int], redundancy: float = 0.0
    ) -> None:
        """Rank units.

        Args:
            values: `(units,)` scores, such as log-odds.
            texts: Texts of the units.
            allowed: The units that may be selected.
            redundancy: The penalty for a unit whose bigrams are all in the summary, in the unit of `values`.
        """
        self._values = values
        self._texts, self._redundancy = texts, redundancy
        self._seen: set[tuple[str, ...]] = set()
        self._left = [(-self._values[unit], unit) for unit in allowed]
        heapq.heapify(self._left)

    def __iter__(self) -> Iterator[int]:
        """Yield the best remaining unit until none remains."""
        while self._left:
            former, unit = heapq.heappop(self._left)
            now = -self._value(unit)
            # Scores only decrease, so one that has not decreased since it was queued is the greatest.
            if now > former:
                heapq.heappush(self._left, (now, unit))
            else:
                yield unit

    def add(self, units: Iterable[int]) -> None:
        """Add selected units, which others are then penalized for repeating."""
        if self._redundancy:
            self._seen.update(*(ngrams(self._texts[unit], 2) for unit in units))

    def _value(self, unit: int) -> float:
        value = float(self._values[unit])
        if not self._seen:
            return value
        own = ngrams(self._texts[unit], 2)
        return value - self._redundancy * len(own & self._seen) / max(1, len(own))


def ngrams(text: str, length: int) -> set[tuple[str, ...]]:
    """Return the set of n-grams of `length` lower-cased words, punctuation left out."""
    words = WORD_OR_NUMBER.findall(text.lower())
    return set(zip(*(words[start:] for start in range(length)), strict=False))


def log_odds(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the log-odds `(units,)` of probabilities `(units,)`, in nats; also finite for 0 and 1.

    Raises:
        InputError: Values that are not probabilities.
    """
    if ((values < 0) | (values > 1)).any():
        raise InputError(
            f"redundancy and brevity: expected scores that are probabilities, got {values.min():.4g} to "
            f"{values.max():.4g}"
        )
    inside = np.clip(values, _TINY, 1 - _TINY)
    found: NDArray[np.float64] = np.log(inside) - np.log1p(-inside)
    return found
