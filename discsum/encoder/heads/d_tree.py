"""D-Tree: each unit attends to its head in the dependency tree (Xiao et al. 2020, section 4.1)."""

from __future__ import annotations

from discsum.encoder.heads import HEADS
from discsum.encoder.heads._tree_matrix import TreeHead
from discsum.priors import d_tree


@HEADS.register("d_tree")
class DTreeHead(TreeHead):
    """Attends from each unit to its head in the dependency tree, with one root per sentence."""

    matrix = staticmethod(lambda units: d_tree(units.tree, units.edu_to_sentence))
