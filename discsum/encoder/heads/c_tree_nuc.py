"""C-Tree w/Nuc: the fixed matrix of the constituency tree, nuclei weighing twice (Xiao et al. 2020, section 4.2)."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from discsum.document import Document
from discsum.encoder.heads.base import Head
from discsum.errors import InputError
from discsum.priors import c_tree_nuc, project_to_sentences


class CTreeNucHead(Head):
    """Attends to units by the nodes that cover both; no parameters, no softmax, dropout as on any attention."""

    learned: ClassVar[bool] = False

    def forward(self, states: Tensor, prior: Tensor, mask: Tensor) -> Tensor:
        """Return the prior as one head's attention."""
        attention: Tensor = self.dropout(prior)
        return attention[:, None]

    @staticmethod
    def prior(document: Document, unit: str) -> NDArray[np.float32]:
        """Return the matrix over EDUs, or its projection on sentences."""
        if document.tree is None:
            raise InputError(f"{document.id or 'document'}: expected a discourse tree; parse the text first")
        matrix = c_tree_nuc(document.tree)
        if unit == "edu":
            return matrix
        return project_to_sentences(matrix, document.edu_to_sentence, len(document.sentences))
