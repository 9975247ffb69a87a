"""Fixed matrices of the discourse tree (Xiao et al. 2020, section 4): no parameters and no softmax."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from discsum.encoder.heads.base import Head, HeadConfig, Prior, UnitTree
from discsum.priors import project_to_sentences


class TreeHead(Head):
    """Attends with a fixed matrix over the EDUs, or with its projection to sentences."""

    @staticmethod
    @abstractmethod
    def matrix(units: UnitTree) -> NDArray[np.float32]:
        """Return the `(edus, edus)` matrix of the units' tree; its rows sum to 1."""

    @classmethod
    def prior(cls, units: UnitTree, config: HeadConfig) -> dict[str, NDArray[Any]]:
        """Return the matrix over the units."""
        matrix = cls.matrix(units)
        if units.sentences is not None:
            matrix = project_to_sentences(matrix, units.edu_to_sentence, units.sentences)
        return {"matrix": matrix}

    def forward(self, states: Tensor, prior: Prior, mask: Tensor) -> Tensor:
        """Return the matrix, which all heads share, `(batch, 1, units, units)`."""
        return prior["matrix"][:, None].to(states.dtype)
