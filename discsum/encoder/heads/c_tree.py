"""C-Tree: the constituency tree as a matrix (Xiao et al. 2020, section 4.2)."""

from __future__ import annotations

from discsum.encoder.heads import HEADS
from discsum.encoder.heads._tree_matrix import TreeHead
from discsum.priors import c_tree


@HEADS.register("c_tree")
class CTreeHead(TreeHead):
    """Attends in proportion to the number of constituents that cover both units."""

    matrix = staticmethod(lambda units: c_tree(units.tree))
