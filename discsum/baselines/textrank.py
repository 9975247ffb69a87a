"""TextRank: PageRank over units linked by the words they share."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from discsum.baselines import BASELINES
from discsum.document import Document
from discsum.scoring import Scores, UnitScorer
from discsum.selection import unit_texts

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

DAMPING = 0.85
# Mean change of a unit's rank below which the iteration stops.
TOLERANCE = 1e-6
# Sums of similarities below this are rounding errors, and count as 0.
NOTHING = 1e-9


@BASELINES.register("textrank")
class TextRank(UnitScorer):
    """PageRank over the units (Mihalcea and Tarau 2004), linked by the cosine of their tf-idf vectors.

    Stop words are removed; idf is over the document's own units. Units that share no word with others only get the rank
    of the random jump.
    """

    name = "textrank"

    def score(self, document: Document, unit: str) -> Scores:
        """Return the PageRank of every unit `(units,)`; they sum to 1."""
        from sklearn.feature_extraction.text import TfidfVectorizer

        texts = unit_texts(document, unit)
        vectorizer = TfidfVectorizer(stop_words="english")
        analyze = vectorizer.build_analyzer()
        if not any(analyze(text) for text in texts):
            return np.full(len(texts), 1.0 / max(len(texts), 1))
        return page_rank(vectorizer.fit_transform(texts))


def page_rank(vectors: csr_matrix) -> NDArray[np.float64]:
    """Return the PageRank `(units,)` of units linked by the dot products of their vectors; the ranks sum to 1.

    Uses power iteration (Brin and Page 1998), like networkx. The matrix of links, of which long documents have
    millions, is never built: time and memory are linear in the number of entries of `vectors`.

    Args:
        vectors: `(units, words)`, not negative.
    """
    count = vectors.shape[0]
    # Subtracted below, because a unit does not vote for itself.
    own = np.asarray(vectors.multiply(vectors).sum(axis=1)).ravel()

    def votes(ranks: NDArray[np.float64]) -> NDArray[np.float64]:
        found: NDArray[np.float64] = vectors @ (vectors.T @ ranks) - own * ranks
        return found

    degrees = votes(np.ones(count))
    alone = degrees < NOTHING
    shares = np.where(alone, 0.0, 1.0 / np.where(alone, 1.0, degrees))
    ranks, change = np.full(count, 1.0 / count), np.inf
    while change >= count * TOLERANCE:
        # Units without links vote equally for all units.
        everywhere = (DAMPING * ranks[alone].sum() + 1 - DAMPING) / count
        before, ranks = ranks, DAMPING * votes(ranks * shares) + everywhere
        change = float(np.abs(ranks - before).sum())
    return ranks
