"""What every attention head is."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from torch import Tensor, nn

from discsum.tree import RSTTree


@dataclass(frozen=True)
class HeadConfig:
    """Sizes that heads may need.

    Attributes:
        width: Size `d` of a unit vector.
        key_size: Size `d_k` of keys and queries.
        heads: Number of heads.
        dropout: Dropout on the attention matrix.
    """

    width: int
    key_size: int = 64
    heads: int = 1
    dropout: float = 0.1


class Head(nn.Module):
    """Gives the attention matrix of a layer.

    Attributes:
        learned: Whether the matrix has parameters; then every layer has a head of its own.
    """

    learned: ClassVar[bool] = True

    def __init__(self, config: HeadConfig) -> None:
        """Build the head's parameters."""
        super().__init__()
        self.dropout = nn.Dropout(config.dropout)

    @abstractmethod
    def forward(self, states: Tensor, prior: Tensor, mask: Tensor) -> Tensor:
        """Return `(batch, heads, units, units)` attention; each row of a unit sums to 1 before dropout.

        Args:
            states: `(batch, units, width)`.
            prior: `(batch, units, units)`, what `prior` gives for each document, zero where padded.
            mask: `(batch, units)`, true where there is a unit.
        """

    @staticmethod
    def prior(tree: RSTTree, edu_to_sentence: NDArray[np.int64] | None, units: int) -> NDArray[np.float32]:
        """Return the `(units, units)` matrix that the head reads of a tree, all zero if it reads none.

        Args:
            tree: The discourse tree over the EDUs.
            edu_to_sentence: `(edus,)` the sentence of every EDU where units are sentences, else nothing.
            units: Number of units.
        """
        return np.zeros((units, units), dtype=np.float32)
