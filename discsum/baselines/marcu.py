"""Marcu: units promoted high in the discourse tree."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from discsum.baselines import BASELINES
from discsum.document import Document
from discsum.promotion import promotion_scores
from discsum.scoring import UnitScorer


@BASELINES.register("marcu")
@dataclass(frozen=True)
class Marcu(UnitScorer):
    """Promotion sets (Marcu 1999, *Discourse Trees are Good Indicators of Importance in Text*)."""

    name: ClassVar[str] = "marcu"
    needs_tree: ClassVar[bool] = True

    def score(self, document: Document, unit: str) -> NDArray[np.float64]:
        """Return `promotion_scores` of the document's units `(units,)`."""
        return promotion_scores(document, unit, self.name)
