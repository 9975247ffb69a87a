"""D-Tree: each unit attends to its head in the dependency tree (Xiao et al. 2020, section 3.3.1)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from discsum.encoder.heads import HEADS
from discsum.encoder.heads._tree_matrix import TreeHead
from discsum.encoder.heads.base import UnitTree
from discsum.priors import d_tree


@HEADS.register("d_tree")
class DTreeHead(TreeHead):
    """Attends to the unit's head, with one root a sentence."""

    @classmethod
    def unit_matrix(cls, units: UnitTree) -> NDArray[np.float32]:
        """Return the D-Tree."""
        return d_tree(units.tree, units.edu_to_sentence)
