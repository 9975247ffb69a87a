"""Build the trees of encoded texts: decode their charts and label their nodes in batches."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from discsum.parsers.budgets import concatenate
from discsum.parsers.edu_vectors import EDULayout
from discsum.parsers.labels import Label, choose
from discsum.parsers.network import ParserNetwork
from discsum.parsers.reading import Reading
from discsum.parsers.structure import DESIGNS, joined_nodes
from discsum.tree import Node, RSTTree


@dataclass(frozen=True)
class Nodes:
    """The internal nodes of a text's tree.

    Attributes:
        edus: Number of EDUs.
        spans: `(nodes, 3)` first, last and split.
        labels: `(nodes,)` index of each label.
        probabilities: `(nodes,)` probability of each span with its label's class and nuclearity.
    """

    edus: int
    spans: NDArray[np.int64]
    labels: NDArray[np.int64]
    probabilities: NDArray[np.float64]

    def tree(self, names: Sequence[Label]) -> RSTTree:
        """Return the tree; `names` are the labels that the indices refer to."""
        labels, chances = (names[label] for label in self.labels), np.round(self.probabilities, 4).tolist()
        nodes = [
            Node(first, last, split, nuclearity, relation, chance)
            for (first, last, split), (nuclearity, relation), chance in zip(
                self.spans.tolist(), labels, chances, strict=True
            )
        ]
        return RSTTree.from_unordered(self.edus, nodes)


def build_trees(
    network: ParserNetwork, readings: Sequence[Reading], states: Sequence[Tensor], edges: Sequence[Tensor]
) -> list[Nodes]:
    """Return the nodes of the tree of each text.

    Args:
        network: The network that has read the texts.
        readings: Readings of texts with several EDUs.
        states: EDU states `(edus, hidden)` of each text.
        edges: Result of `ParserNetwork.edges` for each, if labels read them.
    """
    counts = [len(own) for own in states]
    layout = EDULayout.concatenate(
        [network.layout(reading.words, reading.edus.starts, reading.sentences.starts) for reading in readings],
        [len(reading.words) for reading in readings],
    )
    together = concatenate(states)
    bracketings = DESIGNS[network.config.design].decode(network.splits(together, layout, counts))
    # Labels do not depend on bags, so their memory can be freed.
    layout = replace(layout, bags=None)
    nodes = joined_nodes([own.nodes for own in bracketings], counts)
    logits = network.label(together, layout, concatenate(edges) if edges else None, nodes)[-1]
    chosen = choose(logits, network.labels)
    ends = np.cumsum([len(own.nodes) for own in bracketings])[:-1]
    labelled = zip(bracketings, np.split(chosen.labels, ends), np.split(chosen.probabilities, ends), strict=True)
    return [
        Nodes(count, own.nodes, labels, own.probabilities * chances)
        for count, (own, labels, chances) in zip(counts, labelled, strict=True)
    ]
