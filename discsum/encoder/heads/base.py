"""The base class of attention heads, with its configuration and inputs."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any, TypeVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from discsum.document import Document
from discsum.errors import InputError
from discsum.tree import RSTTree

# Arrays that a head reads from a tree, by name; padding is 0 for floats, False for masks and -1 for integers.
Prior = Mapping[str, Tensor]
Options = TypeVar("Options")
# Largest error of sums of rows and of padding, which half precision does not reach.
TOLERANCE = 0.05
FIRST_BATCHES = 100


@dataclass(frozen=True)
class HeadConfig:
    """Sizes that heads may need.

    Attributes:
        width: Size `d` of a unit vector.
        key_size: Size `d_k` of keys and queries.
        heads: Number of heads.
        dropout: Dropout on the attention matrix.
        max_units: Maximum units of a document, for heads whose parameters depend on it.
        options: Options of all kinds of heads, by name; each kind reads the fields of its own dataclass.
    """

    width: int
    key_size: int = 64
    heads: int = 1
    dropout: float = 0.1
    max_units: int = 512
    options: Mapping[str, Any] = field(default_factory=dict)

    def read(self, kind: type[Options]) -> Options:
        """Return a head's options as its dataclass `kind`, with defaults for options that are not set."""
        names: list[str] = [field.name for field in fields(kind)]  # type: ignore[arg-type]
        return kind(**{name: self.options[name] for name in names if name in self.options})


@dataclass(frozen=True)
class UnitTree:
    """The input of `Head.prior`: a discourse tree and its units.

    Attributes:
        tree: The tree over the EDUs.
        edu_to_sentence: `(edus,)` sentence in which each EDU starts.
        sentences: Number of sentences if units are sentences; None if they are EDUs.
        document: The whole document, for heads that read its text; None where a head is called without one.
        first: Position of the first of the units in the document.
    """

    tree: RSTTree
    edu_to_sentence: NDArray[np.int64]
    sentences: int | None = None
    document: Document | None = None
    first: int = 0


class Head(nn.Module):
    """Computes the attention matrix of a layer; `discsum.encoder.heads.register` adds a new kind of head."""

    # Batches in which a training run looks for padding that it has not checked yet.
    _unchecked = FIRST_BATCHES

    def __init__(self, config: HeadConfig) -> None:
        super().__init__()
        self.config = config
        self.dropout = nn.Dropout(config.dropout)

    @staticmethod
    def prior(units: UnitTree, config: HeadConfig) -> dict[str, NDArray[Any]]:
        """Return the arrays that the head reads from a tree, by name; by default none.

        `forward` gets each as a tensor with a batch dimension first, floats as float32. Documents of a batch are padded
        with 0, masks with False, and integers with -1.
        """
        return {}

    @staticmethod
    def problems(config: HeadConfig) -> list[str]:
        """Return the problems of sizes and options together, each as `option: expected ...`; by default none.

        Do not check `width`: it comes from the recipe and is later replaced by the size of the unit vectors.
        """
        return []

    @abstractmethod
    def forward(self, states: Tensor, prior: Prior, mask: Tensor) -> Tensor:
        """Return the attention `(batch, heads or 1, units, units)`; rows of units sum to 1 and are 0 at padding.

        Args:
            states: `(batch, units, width)`.
            prior: Results of `prior`, padded, with a batch dimension first.
            mask: `(batch, units)`, true for units and false for padding.
        """

    def mix(self, states: Tensor, values: Tensor, prior: Prior, mask: Tensor) -> Tensor:
        """Return `A . G(X)` with dropout on `A`; result and `values` are `(batch, heads, units, value_size)`.

        Raises:
            InputError: Attention of another shape; or rows of units that do not sum to 1 or are not 0 at padding, which
                a training run checks in its first batch and in the first with padding.
        """
        attention: Tensor = self(states, prior, mask)
        batch, heads, units, _ = values.shape
        allowed = (1, batch), (1, heads), (units,), (units,)
        if attention.dim() != 4 or any(size not in some for size, some in zip(attention.shape, allowed, strict=True)):
            raise InputError(
                f"head {type(self).__name__}: expected attention of shape (batch, heads or 1, units, units), here "
                f"({batch}, {heads} or 1, {units}, {units}), got {tuple(attention.shape)}"
            )
        if self.training and self._unchecked:
            padded = not bool(mask.all())
            if padded or self._unchecked == FIRST_BATCHES:
                self._check_rows(attention.detach().float(), mask.bool())
            self._unchecked = 0 if padded else self._unchecked - 1
        mixed: Tensor = self.dropout(attention).to(values.dtype) @ values
        return mixed

    def _check_rows(self, attention: Tensor, mask: Tensor) -> None:
        """Raise `InputError` if rows of units do not sum to 1 or are not 0 at padding."""
        head = f"head {type(self).__name__}: expected attention"
        # (batch, heads or 1, units)
        sums, units = attention.sum(dim=-1), mask[:, None, :]
        # Not `>`, which does not find NaN.
        wrong = ~((sums - 1).abs() <= TOLERANCE) & units
        if wrong.any():
            found = sums.expand_as(wrong)[wrong][0].item()
            raise InputError(f"{head} whose rows sum to 1, got a row with the sum {found:g}; divide rows by their sums")
        outside = attention.abs().masked_fill(mask[:, None, None, :], 0).amax(dim=-1)
        if (largest := outside.masked_fill(~units, 0).max().item()) > TOLERANCE:
            raise InputError(f"{head} of 0 at padding, where the mask is False, got {largest:g}; set it to 0 there")


def masked_softmax(logits: Tensor, mask: Tensor) -> Tensor:
    """Return the softmax of `(batch, heads, units, units)` over the last dimension, with 0 at padding.

    Without any unit it is uniform.
    """
    # Not infinite: a document of padding alone would turn all gradients into NaN.
    return torch.softmax(logits.masked_fill(~mask[:, None, None, :], torch.finfo(logits.dtype).min), dim=-1)


def check_units(units: int, limit: int) -> None:
    """Raise `InputError` if a document has more units than a head accepts."""
    if units > limit:
        raise InputError(f"expected at most max_units={limit} units, got {units}; choose a head without a limit")
