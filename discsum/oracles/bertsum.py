"""`bertsum`: greedy by R1-F + R2-F over sets of n-grams, unstemmed (Liu and Lapata 2019)."""

from __future__ import annotations

from collections.abc import Sequence

from discsum.oracles import ORACLES
from discsum.oracles._ngram_sets import greedy


@ORACLES.register("bertsum", units=3)
def bertsum(units: Sequence[str], references: Sequence[str], k: int | None = 3) -> list[int]:
    """Return the units found greedily by R1-F + R2-F over sets of n-grams, in document order.

    The labels of Liu and Lapata 2019: lower-cased words without stemming, every character but letters, digits and
    spaces removed; n-grams counted once; no bigrams across units. Ties go to the first unit; the search stops
    when no unit raises the sum, or at `k` units.

    Args:
        units: The units' texts.
        references: The reference summaries; several are read as one text.
        k: Maximum number of units; None for no limit.
    """
    return greedy(units, references, [[index] for index in range(len(units))], k)
