"""What every attention head is."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any, ClassVar, TypeVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from discsum.errors import InputError
from discsum.tree import RSTTree

# What a head reads of a tree, by name: arrays whose padding is 0 for floats and -1 for integers.
Prior = Mapping[str, Tensor]
Options = TypeVar("Options")


@dataclass(frozen=True)
class HeadConfig:
    """Sizes that heads may need.

    Attributes:
        width: Size `d` of a unit vector.
        key_size: Size `d_k` of keys and queries.
        heads: Number of heads.
        dropout: Dropout on the attention matrix.
        max_units: Most units of a document, for heads whose parameters are as large.
        options: Heads' own options by name; each head reads those of its dataclass and leaves the others.
    """

    width: int
    key_size: int = 64
    heads: int = 1
    dropout: float = 0.1
    max_units: int = 512
    options: Mapping[str, Any] = field(default_factory=dict)

    def read(self, kind: type[Options]) -> Options:
        """Return a head's options, `kind` the dataclass of them; those that are not given have its defaults."""
        names: list[str] = [field.name for field in fields(kind)]  # type: ignore[arg-type]
        return kind(**{name: self.options[name] for name in names if name in self.options})


@dataclass(frozen=True)
class UnitTree:
    """A discourse tree and what its units are, which is all that a prior may depend on.

    Attributes:
        tree: The tree over the EDUs.
        edu_to_sentence: `(edus,)` the sentence in which each EDU starts.
        sentences: Number of sentences where units are sentences; none where they are EDUs.
    """

    tree: RSTTree
    edu_to_sentence: NDArray[np.int64]
    sentences: int | None = None


class Head(nn.Module):
    """Gives the attention matrix of a layer; see `discsum.encoder.heads` for those there are and for how to add one.

    Attributes:
        limited: Whether it knows only `HeadConfig.max_units` units.
    """

    limited: ClassVar[bool] = False

    def __init__(self, config: HeadConfig) -> None:
        """Build the head's parameters."""
        super().__init__()
        self.config = config
        self.dropout = nn.Dropout(config.dropout)

    @staticmethod
    def prior(units: UnitTree, config: HeadConfig) -> dict[str, NDArray[Any]]:
        """Return the arrays that the head reads of a tree; most heads read none."""
        return {}

    @abstractmethod
    def forward(self, states: Tensor, prior: Prior, mask: Tensor) -> Tensor:
        """Return `(batch, heads or 1, units, units)` attention; each row of a unit sums to 1, and is 0 at padding.

        Args:
            states: `(batch, units, width)`.
            prior: What `prior` gives for each document, padded, with a batch dimension before the others.
            mask: `(batch, units)`, true where there is a unit.
        """

    def mix(self, states: Tensor, values: Tensor, prior: Prior, mask: Tensor) -> Tensor:
        """Return `A . G(X)`: `(batch, heads, units, value_size)` from `values` of the same shape, with dropout on A."""
        mixed: Tensor = self.dropout(self(states, prior, mask)) @ values
        return mixed


def masked_softmax(logits: Tensor, mask: Tensor) -> Tensor:
    """Return the softmax over the last dimension of `(batch, heads, units, units)`, padding left out."""
    return torch.softmax(logits.masked_fill(~mask[:, None, None, :], float("-inf")), dim=-1)


def check_units(units: int, limit: int) -> None:
    """Check that a head that knows `limit` units is given no more.

    Raises:
        InputError: More units than that.
    """
    if units > limit:
        raise InputError(f"expected at most max_units={limit} units, got {units}; name a head without a limit")
