"""What the cross-attentions of a sparse model share, and what one of them tells whoever looks on."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass, field

from torch import Tensor

from discsum.abstractive.sparse.costs import whole_is_cheaper
from discsum.abstractive.sparse.layout import SentenceLayout


@dataclass(frozen=True, eq=False)
class Observation:
    """What one layer did in one forward pass, for losses and analyses.

    Attributes:
        layer: Its number.
        attention: `(documents, heads, queries, sentences)` `alpha^s`: what full attention gives each sentence (Eq 4).
        predicted: `(documents, heads or 1, queries, sentences)` log probabilities of the selector; none without one.
        kept: `(documents, queries, sentences)` the sentences that were read.
    """

    layer: int
    attention: Tensor
    predicted: Tensor | None
    kept: Tensor


@dataclass(eq=False)
class SparseState:
    """What the cross-attentions of one model share.

    Attributes:
        r: Sentences that a query reads; none for all of them.
        share_beams: Whether the beams of a document read the same sentences, by their mean score.
        dense_where_faster: Whether single steps read all sentences where that costs less than selecting.
        layout: The sentences of the documents at hand.
        by_attention: `(documents,)`, true for documents whose sentences are selected by attention itself, as `ideal`
            does, whatever the selector says; none for no document.
        observer: Takes what each layer did, where somebody looks on; all attention is then computed.
        generating: Whether rows may be beams of the layout's documents.
        memo: What the layers of a forward pass share, and the encoder states that it was made from.
    """

    r: int | None
    share_beams: bool = True
    dense_where_faster: bool = True
    layout: SentenceLayout | None = None
    by_attention: Tensor | None = None
    observer: Callable[[Observation], None] | None = None
    generating: bool = False
    memo: tuple[Tensor | None, dict[Hashable, Tensor]] = field(default_factory=lambda: (None, {}))

    def read(self, sentences: int) -> int:
        """Return how many sentences a step of `generate` reads of a document that has so many."""
        if self.r is None or self.r >= sentences or (self.dense_where_faster and whole_is_cheaper(sentences, self.r)):
            return sentences
        return self.r

    def shared(self, states: Tensor, *, anew: bool) -> dict[Hashable, Tensor]:
        """Return what layers share that read the same encoder states; nothing yet where a pass begins `anew`."""
        if anew or self.memo[0] is not states:
            self.memo = (states, {})
        return self.memo[1]
