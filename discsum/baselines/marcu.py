"""Marcu: units promoted high in the discourse tree."""

from __future__ import annotations

from discsum.baselines import BASELINES
from discsum.document import Document
from discsum.promotion import promotion_scores
from discsum.scoring import Scores, UnitScorer


@BASELINES.register("marcu")
class Marcu(UnitScorer):
    """Score units by promotion sets (Marcu 1999, *Discourse Trees are Good Indicators of Importance in Text*)."""

    name = "marcu"
    needs_tree = True

    def score(self, document: Document, unit: str) -> Scores:
        """Return `promotion_scores` of the document's units `(units,)`."""
        return promotion_scores(document, unit, self.name)
