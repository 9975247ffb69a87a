"""What a unit's place and form say of it, besides its words."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from discsum.document import Document
from discsum.promotion import promotion_scores

FIRST_PLACES = 5
COUNT = 10 + FIRST_PLACES


def unit_features(document: Document, unit: str) -> NDArray[np.float32]:
    """Return `(units, COUNT)` features, each of the order of 1.

    Position from the start (logarithm) and as a share of the document, the document's length, one
    column for each of the first places, the unit's length in words, whether it begins a paragraph, holds
    a quotation mark, a digit or a question mark, its share of capitalised words, its Marcu score, and
    whether it is promoted to the root.
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
