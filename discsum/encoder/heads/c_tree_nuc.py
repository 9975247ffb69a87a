"""C-Tree w/Nuc: the fixed matrix of the constituency tree, nuclei weighing twice (Xiao et al. 2020, section 4.2)."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from discsum.encoder.heads.base import Head
from discsum.priors import c_tree_nuc, project_to_sentences
from discsum.tree import RSTTree


class CTreeNucHead(Head):
    """Attends to units by the nodes that cover both; no parameters, no softmax, dropout as on any attention."""

    learned: ClassVar[bool] = False

    def forward(self, states: Tensor, prior: Tensor, mask: Tensor) -> Tensor:
        """Return the prior as one head's attention."""
        attention: Tensor = self.dropout(prior)
        return attention[:, None]

    @staticmethod
    def prior(tree: RSTTree, edu_to_sentence: NDArray[np.int64] | None, units: int) -> NDArray[np.float32]:
        """Return the matrix over EDUs, or its projection on sentences."""
        matrix = c_tree_nuc(tree)
        return matrix if edu_to_sentence is None else project_to_sentences(matrix, edu_to_sentence, units)
