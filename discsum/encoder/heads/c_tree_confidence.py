"""C-Tree w/Nuc with the parser's confidence instead of weights 2 and 1 (future work of Xiao et al. 2020)."""

from __future__ import annotations

from discsum.encoder.heads import HEADS
from discsum.encoder.heads._tree_matrix import TreeHead
from discsum.priors import c_tree_confidence


@HEADS.register("c_tree_confidence")
class CTreeConfidenceHead(TreeHead):
    """Attends in proportion to the constituents that cover both units, each weighted by its expected count."""

    matrix = staticmethod(lambda units: c_tree_confidence(units.tree))
