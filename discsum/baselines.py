"""Extractive summarizers that need no training, by name in `BASELINES`."""

from __future__ import annotations

import zlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from discsum.document import Document
from discsum.errors import InputError
from discsum.extract import Scorer
from discsum.selection import unit_texts
from discsum.tree import RSTTree
from discsum.tree_knapsack import TreeKnapsack


@dataclass(frozen=True)
class Lead:
    """The first units of the document."""

    name: ClassVar[str] = "lead"
    needs_tree: ClassVar[bool] = False

    def score(self, document: Document, unit: str) -> NDArray[np.float64]:
        """Return scores `(units,)` that fall evenly from 1 with the position."""
        count = len(unit_texts(document, unit))
        return 1.0 - np.arange(count) / max(count, 1)


@dataclass(frozen=True)
class Random:
    """Units at random: the same for the same text and seed, whatever was summarized before."""

    seed: int = 0
    name: ClassVar[str] = "random"
    needs_tree: ClassVar[bool] = False

    def score(self, document: Document, unit: str) -> NDArray[np.float64]:
        """Return scores `(units,)` drawn evenly from [0, 1)."""
        # The text goes into the seed lest equally long documents all get the same positions.
        generator = np.random.default_rng([self.seed, zlib.crc32(document.text.encode("utf-8", "surrogatepass"))])
        return generator.random(len(unit_texts(document, unit)))


@dataclass(frozen=True)
class TextRank:
    """PageRank over the units (Mihalcea and Tarau 2004), linked by the cosine of their tf-idf vectors.

    Stop words are left out; idf is over the document's own units. Units without any word in common with
    others keep what the random jump gives them.
    """

    damping: float = 0.85
    name: ClassVar[str] = "textrank"
    needs_tree: ClassVar[bool] = False

    def score(self, document: Document, unit: str) -> NDArray[np.float64]:
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
        ranks = networkx.pagerank(graph, alpha=self.damping, max_iter=1000)
        return np.array([ranks[index] for index in range(len(texts))])


@dataclass(frozen=True)
class Marcu:
    """Promotion sets (Marcu 1999, *Discourse Trees are Good Indicators of Importance in Text*).

    An EDU promotes itself; an inner node has the promotion sets of its nuclei. An EDU scores by the
    highest node that has it in its promotion set, a sentence by the best EDU that starts in it.
    """

    name: ClassVar[str] = "marcu"
    needs_tree: ClassVar[bool] = True

    def score(self, document: Document, unit: str) -> NDArray[np.float64]:
        """Return `1 - depth / (1 + deepest)` for every unit `(units,)`: 1 for what the root promotes."""
        tree = document.require_tree(self.name)
        levels = promotion_depths(tree)
        scores: NDArray[np.float64] = 1.0 - levels / (1.0 + _leaf_depths(tree).max())
        if unit == "edu":
            return scores
        # A sentence in which no EDU starts is the tail of another one's EDU and promotes nothing of its own.
        best = np.zeros(len(unit_texts(document, unit)))
        np.maximum.at(best, document.edu_to_sentence, scores)
        return best


def promotion_depths(tree: RSTTree) -> NDArray[np.int64]:
    """Return the depth `(edus,)` of the highest node in whose promotion set each EDU is; the root's is 0.

    That is the EDU's nearest satellite ancestor (itself counted), or the root.
    """
    node_parent, edu_parent = tree.parents
    node_nucleus, edu_nucleus = tree.nucleus
    if not tree.nodes:
        return np.zeros(1, dtype=np.int64)
    depth = _node_depths(tree)
    promoted = depth.tolist()
    for index, (parent, nucleus) in enumerate(zip(node_parent.tolist(), node_nucleus.tolist(), strict=True)):
        if nucleus and parent >= 0:
            promoted[index] = promoted[parent]
    return np.where(edu_nucleus, np.array(promoted)[edu_parent], depth[edu_parent] + 1)


def _node_depths(tree: RSTTree) -> NDArray[np.int64]:
    """Return the depth of every inner node `(nodes,)`."""
    depth = [0] * len(tree.nodes)
    for index, parent in enumerate(tree.parents[0].tolist()):
        if parent >= 0:
            depth[index] = depth[parent] + 1
    return np.array(depth, dtype=np.int64)


def _leaf_depths(tree: RSTTree) -> NDArray[np.int64]:
    """Return the depth of every EDU `(edus,)`."""
    return _node_depths(tree)[tree.parents[1]] + 1 if tree.nodes else np.zeros(1, dtype=np.int64)


BASELINES: dict[str, Callable[..., Scorer]] = {
    "lead": Lead,
    "random": Random,
    "textrank": TextRank,
    "marcu": Marcu,
    "tree-knapsack": TreeKnapsack,
}


def baseline(name: str, **options: object) -> Scorer:
    """Return the baseline of this name; `options` are its fields, as `seed` for `random`.

    Raises:
        InputError: An unknown name; the message lists the choices.
    """
    if name not in BASELINES:
        raise InputError(f"expected a baseline out of {', '.join(BASELINES)}, got {name!r}")
    return BASELINES[name](**options)
