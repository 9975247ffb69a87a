"""Base class of selectors and their inputs."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from functools import cached_property

import torch
from torch import Tensor, nn

from discsum.abstractive.sentence_layout import SentenceLayout
from discsum.errors import InputError


@dataclass(frozen=True)
class AttentionShape:
    """Sizes of a layer's cross-attention, and the number of the layer.

    Attributes:
        width: Size of the states.
        scaling: Factor of the query-key products; by default `1 / sqrt(head_size)`.
        bias: Whether its projections have biases.
    """

    width: int
    heads: int
    head_size: int
    layer: int = 0
    scaling: float | None = None
    bias: bool = True


@dataclass(frozen=True, eq=False)
class Queries:
    """Queries of a layer.

    Attributes:
        hidden: `(documents, queries, width)` decoder states.
        projected: `(documents, heads, queries, head_size)` their queries, scaled as in attention.
    """

    hidden: Tensor
    projected: Tensor


@dataclass(frozen=True, eq=False)
class EncodedTokens:
    """Encoded tokens of documents, in one layer.

    Attributes:
        states: `(documents, tokens, width)` encoder states.
        layout: Their sentences.
        key: Linear map from states `(documents, any, width)` to their keys `(documents, heads, any, head_size)`.
        memo: Values shared by the layers of a forward pass, computed by the first layer that needs them.
    """

    states: Tensor
    layout: SentenceLayout
    key: Callable[[Tensor], Tensor]
    memo: dict[Hashable, Tensor] = field(default_factory=dict)

    @cached_property
    def keys(self) -> Tensor:
        """`(documents, heads, tokens, head_size)`: keys of all tokens, computed on first use."""
        return self.key(self.states)

    @property
    def has_keys(self) -> bool:
        """Whether `keys` was computed."""
        return "keys" in vars(self)


class Selector(nn.Module):
    """Scores the sentences of documents for the queries of one layer; `SELECTORS` lists the selectors.

    `summarise` computes once what depends only on the documents, so that each step is cheap. A selector with parameters
    must be trained before it selects.
    """

    _checked = False

    def __init__(self, shape: AttentionShape) -> None:
        """Keep the sizes of the layer's attention."""
        super().__init__()
        self.shape = shape

    @abstractmethod
    def summarise(self, source: EncodedTokens) -> tuple[Tensor, ...]:
        """Return tensors of the documents' sentences to cache, `(documents, ...)` each."""

    @abstractmethod
    def logits(self, queries: Queries, summary: tuple[Tensor, ...], layout: SentenceLayout) -> Tensor:
        """Return `(documents, heads or 1, queries, sentences)` unnormalised scores per head.

        Values of padded sentences are ignored.
        """

    def log_probabilities(self, queries: Queries, summary: tuple[Tensor, ...], layout: SentenceLayout) -> Tensor:
        """Return the logits' log softmax over each document's own sentences (Manakul and Gales 2021, Eq 7).

        Raises:
            InputError: Logits of another shape; or, checked on first use, NaN.
        """
        logits = self.logits(queries, summary, layout)
        (documents, sentences), steps = layout.mask.shape, queries.hidden.shape[1]
        shapes = [(documents, heads, steps, sentences) for heads in (1, self.shape.heads)]
        # Broadcasting would mix documents, or sentences, without an error.
        if tuple(logits.shape) not in shapes:
            raise InputError(
                f"selector {type(self).__name__}: expected logits of shape (documents, heads or 1, queries, "
                f"sentences), here ({documents}, {self.shape.heads} or 1, {steps}, {sentences}), got "
                f"{tuple(logits.shape)}"
            )
        logits = logits.masked_fill(~layout.mask[:, None, None, :], float("-inf"))
        if not self._checked:
            if logits.isnan().any():
                raise InputError(f"selector {type(self).__name__}: expected logits that are numbers, got NaN")
            self._checked = True
        return torch.log_softmax(logits, dim=-1)

    def scores(self, queries: Queries, summary: tuple[Tensor, ...], layout: SentenceLayout) -> Tensor:
        """Return `(documents, queries, sentences)`: selection scores, averaged over heads (Eq 6)."""
        return self.log_probabilities(queries, summary, layout).exp().mean(dim=1)
