"""What every selector of sentences is."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from functools import cached_property

import torch
from torch import Tensor, nn

from discsum.abstractive.sparse.layout import SentenceLayout


@dataclass(frozen=True)
class AttentionShape:
    """Sizes of a layer's cross-attention: its width, heads, and size of a head; and the layer's number."""

    width: int
    heads: int
    head_size: int
    layer: int = 0


@dataclass(frozen=True, eq=False)
class Queries:
    """What a layer asks of its documents.

    Attributes:
        hidden: `(documents, queries, width)` decoder states.
        projected: `(documents, heads, queries, head_size)` their queries, scaled as attention has them.
    """

    hidden: Tensor
    projected: Tensor


@dataclass(frozen=True, eq=False)
class EncodedTokens:
    """What a layer knows of its documents' tokens.

    Attributes:
        states: `(documents, tokens, width)` encoder states.
        layout: Their sentences.
        key: From `(documents, any, width)` states to their keys `(documents, heads, any, head_size)`, a linear map.
        memo: What the layers of a forward pass share, which the first that needs it makes.
    """

    states: Tensor
    layout: SentenceLayout
    key: Callable[[Tensor], Tensor]
    memo: dict[Hashable, Tensor] = field(default_factory=dict)

    @cached_property
    def keys(self) -> Tensor:
        """`(documents, heads, tokens, head_size)`: all keys; a selector that does without lets them be made late."""
        return self.key(self.states)

    @property
    def has_keys(self) -> bool:
        """Whether all keys were asked for."""
        return "keys" in vars(self)


class Selector(nn.Module):
    """Rates the sentences of documents for the queries of one layer; see `SELECTORS` for those there are.

    What depends on the documents alone is made once by `summarise`, so that a step costs little.
    """

    def __init__(self, shape: AttentionShape) -> None:
        """Keep the sizes of the layer's attention."""
        super().__init__()
        self.shape = shape

    @abstractmethod
    def summarise(self, source: EncodedTokens) -> tuple[Tensor, ...]:
        """Return what is kept of the documents' sentences, documents first."""

    @abstractmethod
    def logits(self, queries: Queries, summary: tuple[Tensor, ...], layout: SentenceLayout) -> Tensor:
        """Return `(documents, heads or 1, queries, sentences)` how much each head wants each sentence, any real number.

        Sentences that a document does not have may be given anything.
        """

    def log_probabilities(self, queries: Queries, summary: tuple[Tensor, ...], layout: SentenceLayout) -> Tensor:
        """Return the logits' log softmax over each document's own sentences (Manakul and Gales 2021, Eq 7)."""
        logits = self.logits(queries, summary, layout)
        return torch.log_softmax(logits.masked_fill(~layout.mask[:, None, None, :], float("-inf")), dim=-1)

    def scores(self, queries: Queries, summary: tuple[Tensor, ...], layout: SentenceLayout) -> Tensor:
        """Return `(documents, queries, sentences)`: what sentences are selected by, heads averaged (Eq 6)."""
        return self.log_probabilities(queries, summary, layout).exp().mean(dim=1)
