"""One vector per EDU: pooled from its subwords, then in the context of the document's other EDUs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from discsum.parsers.long_lstm import STEPS, run_in_pieces
from discsum.parsers.subwords import Subwords, cut_windows


@dataclass(frozen=True)
class EDULayout:
    """Positions, layout and words of a document's EDUs, or of some that follow each other.

    Attributes:
        starts: `(edus,)` first subword of each EDU; an EDU that has none shares the next EDU's.
        ends: `(edus,)` the subword after each EDU's last.
        openings: `(edus + 1,)` of each EDU and of what follows the last one: 0 inside a sentence, 1 at its start, 2 at
            the start of a line, 3 of a paragraph or at the text's end.
        bags: `(edus, width)` result of `lexical_bags`, for networks with cohesion.
    """

    starts: Tensor
    ends: Tensor
    openings: Tensor
    bags: Tensor | None = None


OPENS_PARAGRAPH = 3


def opening_kinds(subwords: Subwords, opens: NDArray[np.bool_], starts: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return `EDULayout.openings` of EDUs that begin at `starts`; `opens` tells which subwords begin a sentence."""
    return np.where(opens[starts], np.maximum(subwords.gaps[starts], 1), 0)


# EDUs pooled at once, which bounds memory.
PIECE = 128
LENGTH_BUCKETS = (2, 3, 4, 6, 8, 11, 15, 20, 28, 40)


# Heads of the attention across EDUs, and the EDUs that see each other: all of a treebank's documents.
HEADS = 6
SPAN, SHARED = 512, 128


class EDUEncoder(nn.Module):
    """First, last and pooled subword of each EDU with layout, then a bidirectional LSTM over the EDUs.

    Transformer layers may follow. They read a long document in overlapping runs of EDUs, so that time and memory stay
    linear; order is known from the LSTM's states.
    """

    def __init__(
        self, width: int, hidden: int = 256, layers: int = 2, dropout: float = 0.2, transformer: int = 0
    ) -> None:
        """Map vectors of `width` to `(edus, hidden)`."""
        super().__init__()
        self.attention = nn.Linear(width, 1)
        self.project = nn.Linear(3 * width, hidden)
        self.opening = nn.Embedding(4, hidden)
        self.closing = nn.Embedding(4, hidden)
        self.length = nn.Embedding(len(LENGTH_BUCKETS) + 1, hidden)
        self.register_buffer("buckets", torch.tensor(LENGTH_BUCKETS, device="cpu"), persistent=False)
        self.dropout = nn.Dropout(dropout)
        self.pooled_norm = nn.LayerNorm(hidden)
        self.context = nn.LSTM(
            hidden, hidden // 2, layers, batch_first=True, bidirectional=True, dropout=dropout if layers > 1 else 0.0
        )
        self.norm = nn.LayerNorm(hidden)
        self.transformer = nn.ModuleList(
            nn.TransformerEncoderLayer(
                hidden, HEADS, hidden, dropout, activation="gelu", batch_first=True, norm_first=True
            )
            for _ in range(transformer)
        )

    def forward(self, vectors: Sequence[Tensor], layouts: Sequence[EDULayout]) -> list[Tensor]:
        """Return `(edus, hidden)` for each document, whose subword vectors are `(subwords, width)`."""
        # One by one: padded to the longest, short documents would cost as much as a long one in the batch.
        return [self.in_context(self.pool(*document)) for document in zip(vectors, layouts, strict=True)]

    def in_context(self, pooled: Tensor) -> Tensor:
        """Return `(edus, hidden)`: states of a document's EDUs from their pooled vectors `(edus, hidden)`."""
        context = run_in_pieces(self.context, pooled)
        # Without gradients states take the place of what they are made of.
        states = torch.empty_like(context) if torch.is_grad_enabled() else context
        for start in range(0, len(pooled), STEPS):
            steps = slice(start, start + STEPS)
            states[steps] = self.norm(pooled[steps] + self.dropout(context[steps]))
        if not self.transformer:
            return states
        parts = []
        for run in cut_windows([len(states)], SPAN, SHARED):
            found = states[run.start : run.end][None]
            for layer in self.transformer:
                found = layer(found)
            parts.append(found[0, run.keep_start - run.start : run.keep_end - run.start])
        return torch.cat(parts) if parts else states

    def pool(self, vectors: Tensor, layout: EDULayout) -> Tensor:
        """Return `(edus, hidden)`: a vector for each EDU from its own subwords, of `vectors` `(subwords, width)`."""
        starts, ends, count = layout.starts, layout.ends, len(layout.starts)
        sizes = ends - starts
        owner = torch.repeat_interleave(torch.arange(count, device=vectors.device), sizes)
        # Subwords of all EDUs in order; a shared subword once for each of its EDUs.
        index = torch.arange(len(owner), device=vectors.device) - (sizes.cumsum(0) - sizes - starts)[owner]
        # Attention within each EDU; one shift for all keeps the exponentials finite.
        scores = self.attention(vectors).squeeze(-1)[index]
        weights = torch.exp(scores - scores.max().detach()).clamp_min(1e-12)
        weights = weights / vectors.new_zeros(count).index_add(0, owner, weights)[owner]
        means: list[Tensor] = []
        first = 0
        for piece in torch.split(sizes, PIECE):
            rows = slice(first, first + int(piece.sum()))
            row = owner[rows] - len(means) * PIECE
            products = vectors.index_select(0, index[rows]) * weights[rows, None]
            means.append(vectors.new_zeros(len(piece), vectors.shape[1]).index_add(0, row, products))
            first = rows.stop
        mean = torch.cat(means)
        states = self.project(self.dropout(torch.cat([vectors[starts], vectors[ends - 1], mean], dim=-1)))
        lengths = self.length(torch.bucketize(sizes, self.get_buffer("buckets")))
        states = states + self.opening(layout.openings[:-1]) + self.closing(layout.openings[1:]) + lengths
        pooled: Tensor = self.dropout(self.pooled_norm(torch.nn.functional.gelu(states)))
        return pooled
