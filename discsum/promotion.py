"""Promotion sets: the height in the discourse tree to which each unit is promoted (Marcu 1999).

An EDU promotes itself; an inner node has the promotion sets of its nuclei.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from discsum.document import Document
from discsum.selection import unit_texts
from discsum.tree import RSTTree


def promotion_scores(document: Document, unit: str, purpose: str = "promotion scores") -> NDArray[np.float64]:
    """Return `1 - depth / (1 + deepest)` for every unit `(units,)`: 1 for what the root promotes.

    An EDU scores by the highest node that has it in its promotion set, a sentence by the best EDU that starts in it.

    Raises:
        InputError: A document without a tree; the message names the `purpose`.
    """
    tree = document.require_tree(purpose)
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
