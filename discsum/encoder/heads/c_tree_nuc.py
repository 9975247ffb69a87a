"""C-Tree w/Nuc: the constituency tree with nuclearity (Xiao et al. 2020, section 4.3)."""

from __future__ import annotations

from discsum.encoder.heads import HEADS
from discsum.encoder.heads._tree_matrix import TreeHead
from discsum.priors import c_tree_nuc


@HEADS.register("c_tree_nuc")
class CTreeNucHead(TreeHead):
    """Attends in proportion to the number of constituents that cover both units; nuclei count twice."""

    matrix = staticmethod(lambda units: c_tree_nuc(units.tree))
