"""C-Tree w/Nuc in which nuclei weigh more, the more confident the parser is (future work of Xiao et al. 2020)."""

from __future__ import annotations

from discsum.encoder.heads import HEADS
from discsum.encoder.heads._tree_matrix import TreeHead
from discsum.priors import c_tree_confidence


@HEADS.register("c_tree_confidence")
class CTreeConfidenceHead(TreeHead):
    """Attends in proportion to the constituents that cover both units; nuclei weigh 1 plus their probability."""

    matrix = staticmethod(lambda units: c_tree_confidence(units.tree))
