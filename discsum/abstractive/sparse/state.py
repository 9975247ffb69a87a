"""State shared by the cross-attentions of a sparse model, and their observations."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from torch import Tensor

from discsum.abstractive.sparse.costs import whole_below
from discsum.abstractive.sparse.layout import SentenceLayout


@dataclass(frozen=True, eq=False)
class Observation:
    """Attention of one layer in one forward pass, for losses and analyses.

    Attributes:
        attention: `(documents, heads, queries, sentences)` `alpha^s`: full attention to each sentence (Eq 4).
        predicted: `(documents, heads or 1, queries, sentences)` log probabilities of the selector, if there is one.
        kept: `(documents, queries, sentences)` true for the sentences that were read.
    """

    layer: int
    attention: Tensor
    predicted: Tensor | None
    kept: Tensor


@dataclass(eq=False)
class SparseState:
    """State shared by the cross-attentions of one model.

    Attributes:
        r: Sentences that a query reads; none for all.
        share_beams: Whether the beams of a document read the same sentences, by their mean score.
        dense_where_faster: Whether single steps read all sentences where that is faster than selecting.
        layout: The sentences of the current documents.
        by_attention: `(documents,)`, true for documents whose sentences are selected by full attention, as the selector
            `ideal` does; none for no document.
        observer: Called with each layer's `Observation`; all attention weights are then computed.
        generating: Whether rows may be beams, several for each document of the layout.
        memo: Values shared by the layers of a forward pass, with the encoder states they were computed from.
    """

    r: int | None
    share_beams: bool = True
    dense_where_faster: bool = True
    layout: SentenceLayout | None = None
    by_attention: Tensor | None = None
    observer: Callable[[Observation], None] | None = None
    generating: bool = False
    memo: tuple[Tensor | None, dict[Hashable, Tensor]] = field(default_factory=lambda: (None, {}))

    @contextmanager
    def using(self, **changes: Any) -> Iterator[None]:
        """Change attributes within a block."""
        before = {name: getattr(self, name) for name in changes}
        vars(self).update(changes)
        try:
            yield
        finally:
            vars(self).update(before)

    def read(self, sentences: int) -> int:
        """Return the number of a document's sentences that one step of `generate` reads."""
        if self.r is None or (self.dense_where_faster and sentences < whole_below(self.r)):
            return sentences
        return min(self.r, sentences)

    def shared(self, states: Tensor, *, first: bool) -> dict[Hashable, Tensor]:
        """Return the values shared by layers with the same encoder states; empty for the `first` layer of a pass."""
        if first or self.memo[0] is not states:
            self.memo = (states, {})
        return self.memo[1]
