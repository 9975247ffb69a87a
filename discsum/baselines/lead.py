"""Lead: the first units of a document."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from discsum.baselines import BASELINES
from discsum.document import Document
from discsum.scoring import UnitScorer
from discsum.selection import unit_texts


@BASELINES.register("lead")
@dataclass(frozen=True)
class Lead(UnitScorer):
    """The first units of the document."""

    name: ClassVar[str] = "lead"

    def score(self, document: Document, unit: str) -> NDArray[np.float64]:
        """Return scores `(units,)` that fall evenly from 1 with the position."""
        count = len(unit_texts(document, unit))
        return 1.0 - np.arange(count) / max(count, 1)
