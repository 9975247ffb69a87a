"""C-Tree w/Nuc: the constituency tree with nuclearity (Xiao et al. 2020, section 3.3.2)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from discsum.encoder.heads import HEADS
from discsum.encoder.heads._tree_matrix import TreeHead
from discsum.encoder.heads.base import UnitTree
from discsum.priors import c_tree_nuc


@HEADS.register("c_tree_nuc")
class CTreeNucHead(TreeHead):
    """Attends by the constituents that cover both units, nuclei counting twice."""

    @staticmethod
    def matrix(units: UnitTree) -> NDArray[np.float32]:
        """Return the C-Tree w/Nuc."""
        return c_tree_nuc(units.tree)
