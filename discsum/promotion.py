"""Promotion sets: the height in the discourse tree to which each unit is promoted (Marcu 1999).

An EDU promotes itself; an inner node has the union of the promotion sets of its nuclei.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from discsum.document import Document
from discsum.tree import RSTTree


def promotion_scores(document: Document, unit: str, purpose: str = "promotion scores") -> NDArray[np.float64]:
    """Return `1 - depth / (1 + deepest)` for every unit `(units,)`: 1 for what the root promotes.

    An EDU scores by the highest node that has it in its promotion set, a sentence by the best EDU that starts in it.

    Raises:
        InputError: A document without a tree; the message names the `purpose`.
    """
    tree = document.require_tree(purpose)
    scores: NDArray[np.float64] = 1.0 - promotion_depths(tree) / (1.0 + tree.depths[1].max())
    if unit == "edu":
        return scores
    # A sentence in which no EDU starts is the tail of another one's EDU and promotes nothing of its own.
    best = np.zeros(len(document.units(unit)))
    np.maximum.at(best, document.edu_to_sentence, scores)
    return best


def promotion_depths(tree: RSTTree) -> NDArray[np.int64]:
    """Return the depth `(edus,)` of the highest node in whose promotion set each EDU is; the root's is 0.

    That is the EDU's nearest satellite ancestor (itself counted), or the root.
    """
    node_depths, edu_depths = tree.depths
    node_nucleus, edu_nucleus = tree.nucleus
    # A parent of -1 takes the last entry.
    promoted = [*node_depths.tolist(), 0]
    for index, (parent, nucleus) in enumerate(zip(tree.parents[0].tolist(), node_nucleus.tolist(), strict=True)):
        if nucleus:
            promoted[index] = promoted[parent]
    return np.where(edu_nucleus, np.array(promoted)[tree.parents[1]], edu_depths)
