"""Lead: the first units of a document."""

from __future__ import annotations

import numpy as np

from discsum.baselines import BASELINES
from discsum.document import Document
from discsum.scoring import Scores, UnitScorer
from discsum.selection import unit_texts


@BASELINES.register("lead")
class Lead(UnitScorer):
    """The first units of the document."""

    name = "lead"

    def score(self, document: Document, unit: str) -> Scores:
        """Return scores `(units,)` that start at 1 and fall linearly with the position."""
        count = len(unit_texts(document, unit))
        return 1.0 - np.arange(count) / max(count, 1)
