"""Selectors that training learns: projections that predict attention, and the weight of the discourse prior."""

from __future__ import annotations

from abc import abstractmethod

import torch
from torch import Tensor, nn

from discsum.abstractive.sentence_layout import SentenceLayout
from discsum.abstractive.sparse.selectors.base import AttentionShape, EncodedTokens, Queries, Selector
from discsum.errors import InputError

# Sentences are padded together up to this multiple of their tokens.
PADDED = 4


class SentenceEncoder(nn.Module):
    """Makes a vector of every sentence from encoder states, shared by all layers of a model."""

    @abstractmethod
    def encoded(self, rows: Tensor, lengths: Tensor) -> Tensor:
        """Return `(sentences, width)` vectors of padded `(sentences, tokens, width)` states with their lengths."""

    def forward(self, states: Tensor, layout: SentenceLayout) -> Tensor:
        """Return `(documents, sentences, width)` of `(documents, tokens, width)` states."""
        document, sentence = layout.mask.nonzero(as_tuple=True)
        lengths = layout.lengths[document, sentence]
        starts = layout.starts[document, sentence]
        groups, parts = _alike(lengths), []
        for group in groups:
            place = torch.arange(int(lengths[group].max()), device=states.device)[None, :]
            token = (starts[group][:, None] + place).clamp_max(states.shape[1] - 1)
            parts.append(self.encoded(states[document[group][:, None], token], lengths[group]))
        order, vectors = torch.cat(groups), torch.cat(parts)
        filled = vectors.new_zeros(*layout.mask.shape, vectors.shape[-1])
        filled[document[order], sentence[order]] = vectors
        return filled


def _alike(lengths: Tensor) -> list[Tensor]:
    """Return the indices of sentences that are padded together: all, unless padding would be most of the tokens."""
    if int(lengths.max()) * len(lengths) <= PADDED * int(lengths.sum()):
        return [torch.arange(len(lengths), device=lengths.device)]
    # Within a power of 2 in length, so that less than half is padding.
    scale = lengths.clamp_min(1).float().log2().floor()
    return [(scale == size).nonzero()[:, 0] for size in torch.unique(scale)]


class LearnedSelector(Selector):
    """Scores sentence vectors by learned `f1(q) . f2(k)` in every head (Manakul and Gales 2021, Eq 7-10).

    `f1` reads the decoder's state, as in the released code, not the projected query of Eq 4.
    """

    def __init__(self, shape: AttentionShape, encoder: SentenceEncoder) -> None:
        """Build the projections, which `sparsify` initialises from the layer's attention."""
        super().__init__(shape)
        self.query = nn.Linear(shape.width, shape.heads * shape.head_size, bias=shape.bias)
        self.key = nn.Linear(shape.width, shape.heads * shape.head_size, bias=shape.bias)
        # In a list, so that it is not registered here: it belongs to the model, because all layers share it.
        self._encoder = [encoder]

    def summarise(self, source: EncodedTokens) -> tuple[Tensor, ...]:
        """Return `(documents, heads, sentences, head_size)` keys of sentences, whose vectors layers share."""
        encoder = self._encoder[0]
        if encoder not in source.memo:
            source.memo[encoder] = encoder(source.states, source.layout)
        return (self._split_heads(self.key(source.memo[encoder])),)

    def logits(self, queries: Queries, summary: tuple[Tensor, ...], layout: SentenceLayout) -> Tensor:
        """Return the logits."""
        scaling = self.shape.head_size**-0.5 if self.shape.scaling is None else self.shape.scaling
        queried = self._split_heads(self.query(queries.hidden)) * scaling
        logits: Tensor = queried @ summary[0].transpose(-1, -2)
        return logits

    def _split_heads(self, states: Tensor) -> Tensor:
        return torch.unflatten(states, -1, (self.shape.heads, self.shape.head_size)).transpose(1, 2)


class DiscoursePriorSelector(Selector):
    """Adds `beta log p` to another selector's log probabilities, where `p` is the layout's prior.

    Sentences are selected by the mean of the heads' probabilities. `model_free` alone selects by the mean of
    unnormalised similarities, so with it even `beta` 0 may select other sentences.
    """

    def __init__(self, inner: Selector, beta: float = 0.0) -> None:
        """Wrap a selector; `beta` is the initial weight, which training learns."""
        super().__init__(inner.shape)
        self.inner = inner
        self.beta = nn.Parameter(torch.tensor(float(beta)))

    def summarise(self, source: EncodedTokens) -> tuple[Tensor, ...]:
        """Return the summary of the other selector."""
        return self.inner.summarise(source)

    def logits(self, queries: Queries, summary: tuple[Tensor, ...], layout: SentenceLayout) -> Tensor:
        """Return the other selector's log probabilities plus the weighted log prior."""
        if layout.prior is None:
            raise InputError("expected a layout with a prior; make it with layout.with_prior(documents)")
        # In float32: in half precision 1e-9 is 0.
        prior = layout.prior.float().clamp_min(1e-9).log().to(queries.projected.dtype)
        return self.inner.log_probabilities(queries, summary, layout) + self.beta * prior[:, None, None, :]
