"""TextRank: PageRank over units linked by the words they share."""

from __future__ import annotations

import numpy as np

from discsum.baselines import BASELINES
from discsum.document import Document
from discsum.scoring import Scores, UnitScorer
from discsum.selection import unit_texts


@BASELINES.register("textrank")
class TextRank(UnitScorer):
    """PageRank over the units (Mihalcea and Tarau 2004), linked by the cosine of their tf-idf vectors.

    Stop words are left out; idf is over the document's own units. Units without any word in common with
    others keep what the random jump gives them.
    """

    name = "textrank"

    def score(self, document: Document, unit: str) -> Scores:
        """Return the PageRank of every unit `(units,)`; they sum to 1."""
        import networkx
        from scipy.sparse import triu
        from sklearn.feature_extraction.text import TfidfVectorizer

        texts = unit_texts(document, unit)
        vectorizer = TfidfVectorizer(stop_words="english")
        analyze = vectorizer.build_analyzer()
        if not any(analyze(text) for text in texts):
            return np.full(len(texts), 1.0 / max(len(texts), 1))
        vectors = vectorizer.fit_transform(texts)
        # One half without the diagonal: the graph is undirected, and a unit does not vote for itself.
        graph = networkx.from_scipy_sparse_array(triu(vectors @ vectors.T, k=1, format="csr"))
        ranks = networkx.pagerank(graph, alpha=0.85, max_iter=1000)
        return np.array([ranks[index] for index in range(len(texts))])
