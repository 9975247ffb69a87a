"""Sentences by projections that are learned to predict attention (Manakul and Gales 2021, Eq 7-10)."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from discsum.abstractive.sparse.layout import SentenceLayout
from discsum.abstractive.sparse.selectors.base import AttentionShape, EncodedTokens, Queries, Selector


class SentenceEncoder(nn.Module):
    """Makes a vector of every sentence from encoder states, shared by all layers of a model."""

    def vectors(self, source: EncodedTokens) -> Tensor:
        """Return `(documents, sentences, width)`, computed once for all layers of a forward pass."""
        if self not in source.memo:
            source.memo[self] = self(source.states, source.layout)
        return source.memo[self]


class LearnedSelector(Selector):
    """Scores sentence vectors by learned queries and keys, `f1(q) . f2(k)` in every head."""

    def __init__(self, shape: AttentionShape, encoder: SentenceEncoder) -> None:
        """Build the projections, which `sparsify` initialises from the layer's attention."""
        super().__init__(shape)
        self.query = nn.Linear(shape.width, shape.width)
        self.key = nn.Linear(shape.width, shape.width)
        # In a list: it is registered in the model, not in one of the layers that share it.
        self._encoder = [encoder]

    def summarise(self, source: EncodedTokens) -> tuple[Tensor, ...]:
        """Return `(documents, heads, sentences, head_size)` keys of sentences."""
        return (self._split_heads(self.key(self._encoder[0].vectors(source))),)

    def logits(self, queries: Queries, summary: tuple[Tensor, ...], layout: SentenceLayout) -> Tensor:
        """Return the logits."""
        queried = self._split_heads(self.query(queries.hidden)) * self.shape.head_size**-0.5
        logits: Tensor = queried @ summary[0].transpose(-1, -2)
        return logits

    def _split_heads(self, states: Tensor) -> Tensor:
        return torch.unflatten(states, -1, (self.shape.heads, self.shape.head_size)).transpose(1, 2)


def by_sentence(states: Tensor, layout: SentenceLayout) -> tuple[Tensor, Tensor]:
    """Return the states of all sentences, one padded row per sentence, and their lengths.

    Returns:
        `(sentences of all documents, tokens, width)` and `(sentences of all documents,)`.
    """
    document, sentence = layout.mask.nonzero(as_tuple=True)
    lengths = layout.lengths[document, sentence]
    place = torch.arange(int(lengths.max()), device=states.device)[None, :]
    token = (layout.starts[document, sentence][:, None] + place).clamp_max(states.shape[1] - 1)
    return states[document[:, None], token], lengths


def in_documents(vectors: Tensor, layout: SentenceLayout) -> Tensor:
    """Return `(documents, sentences, width)` of one vector per sentence, in the order of `by_sentence`."""
    filled = vectors.new_zeros(*layout.mask.shape, vectors.shape[-1])
    filled[layout.mask] = vectors
    return filled
