"""Statistics of discourse trees: sizes, nuclearity, relations, and how well they fit the sentences."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discsum.document import Document
from discsum.tree import NUCLEARITIES, RSTTree
from discsum.writing import count_words


@dataclass
class TreeStatistics:
    """Sums over documents with trees.

    Relations are counted on the binary trees, as in original Parseval: a list of three counts twice.

    Attributes:
        documents: Number of documents.
        edus: Number of EDUs.
        words: Words of the EDUs, as `count_words` counts them.
        sentences: Number of sentences in which an EDU begins.
        constituents: Number of these whose EDUs are a constituent of the tree.
        depth: Depths of the trees, summed; a tree over one EDU has depth 0.
        relations: Number of nodes by relation and nuclearity (`NS`, `SN`, `NN`).
    """

    documents: int = 0
    edus: int = 0
    words: int = 0
    sentences: int = 0
    constituents: int = 0
    depth: int = 0
    relations: Counter[tuple[str, str]] = field(default_factory=Counter)

    @property
    def nodes(self) -> int:
        """Number of internal nodes."""
        return self.relations.total()

    @property
    def nuclearity(self) -> dict[str, int]:
        """Number of nodes by nuclearity."""
        return {
            kind: sum(count for (_, other), count in self.relations.items() if other == kind) for kind in NUCLEARITIES
        }

    def means(self) -> dict[str, float]:
        """Return means by printed name: sizes per document and per EDU, and a share in [0, 1] of sentences.

        There must be a document, as from `tree_statistics` of at least one.
        """
        return {
            "EDUs per document": self.edus / self.documents,
            "words per EDU": self.words / self.edus,
            "depth": self.depth / self.documents,
            "share of sentences that are constituents": self.constituents / self.sentences,
        }

    def to_dict(self) -> dict[str, Any]:
        """Return the sums as a JSON object; relations as from `by_relation`."""
        sums = {name: value for name, value in asdict(self).items() if name != "relations"}
        return {**sums, "nuclearity": self.nuclearity, "relations": self.by_relation()}

    def by_relation(self) -> dict[str, dict[str, int]]:
        """Return the number of nodes by relation, most frequent first, and within it by nuclearity."""
        found: dict[str, dict[str, int]] = {}
        for (relation, kind), count in sorted(self.relations.items()):
            found.setdefault(relation, dict.fromkeys(NUCLEARITIES, 0))[kind] = count
        return dict(sorted(found.items(), key=lambda item: -sum(item[1].values())))


def tree_statistics(documents: Iterable[Document]) -> TreeStatistics:
    """Return the statistics of documents with trees.

    Raises:
        InputError: A document without a tree.
    """
    found = TreeStatistics()
    for document in documents:
        tree = document.require_tree("statistics")
        firsts, lasts = _edus_of_sentences(document.edu_to_sentence)
        found.documents += 1
        found.edus += tree.edus
        found.words += sum(map(count_words, document.edu_texts))
        found.sentences += len(firsts)
        found.constituents += int(_are_constituents(tree, firsts, lasts).sum())
        found.depth += int(tree.depths[1].max())
        found.relations.update((node.relation, node.nuclearity) for node in tree.nodes)
    return found


def _edus_of_sentences(edu_to_sentence: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the first and the last EDU `(sentences,)` of each sentence in which some EDU begins."""
    ends = np.flatnonzero(np.diff(edu_to_sentence, append=-1))
    return np.concatenate(([0], ends[:-1] + 1)), ends


def _are_constituents(tree: RSTTree, firsts: NDArray[np.int64], lasts: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Return `(ranges,)`: whether each range of EDUs is one EDU, or all EDUs of a node."""
    nodes = tree.spans[:, 0] * tree.edus + tree.spans[:, 1]
    found: NDArray[np.bool_] = (firsts == lasts) | np.isin(firsts * tree.edus + lasts, nodes)
    return found
