"""Layout features of units: position, length and form."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from discsum.document import Document
from discsum.promotion import promotion_scores

FIRST_PLACES = 5
COUNT = 10 + FIRST_PLACES


def unit_features(document: Document, unit: str) -> NDArray[np.float32]:
    """Return the layout features `(units, COUNT)`, scaled to values around 1.

    The columns are: logarithm of the position, relative position, document length, an indicator for each of the first
    positions, number of words (at white space), whether the unit follows a line break, has a quotation mark or
    apostrophe, has a digit, share of capitalised words, Marcu score, and whether the unit is promoted to the root. The
    last two are 0 without a tree.

    Raises:
        InputError: An unknown unit.
    """
    spans = document.units(unit)
    count = len(spans)
    rows = np.zeros((count, COUNT), dtype=np.float32)
    place = np.arange(count)
    rows[:, 0] = np.log1p(place) / 4.0
    rows[:, 1] = place / max(1, count)
    rows[:, 2] = np.log1p(count) / 4.0
    for first in range(min(FIRST_PLACES, count)):
        rows[first, 3 + first] = 1.0
    marcu = promotion_scores(document, unit) if document.tree is not None and count else np.zeros(count)
    before = 0
    for index, span in enumerate(spans):
        text = document.text[span.start : span.end]
        words = text.split()
        rows[index, 3 + FIRST_PLACES :] = (
            np.log1p(len(words)) / 4.0,
            index == 0 or "\n" in document.text[before : span.start],
            any(mark in text for mark in "\"“”'‘’«»"),
            any(character.isdigit() for character in text),
            sum(word[0].isupper() for word in words) / max(1, len(words)),
            marcu[index],
            marcu[index] >= 1.0,
        )
        before = span.end
    return rows
