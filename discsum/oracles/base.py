"""Functions shared by the oracles."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

# A gain below this is rounding, so equal candidates stay equal and the first one wins.
TOLERANCE = 1e-12


def ngrams(tokens: Sequence[str], n: int) -> Counter[tuple[str, ...]]:
    """Return how often each n-gram occurs."""
    return Counter(zip(*(tokens[start:] for start in range(n)), strict=False))
