"""One vector per EDU: pooled from its subwords, then contextualised over the document's other EDUs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn.functional import embedding_bag, gelu
from torch.nn.utils.rnn import pack_sequence, pad_packed_sequence, pad_sequence

from discsum.parsers.budgets import budget_of, concatenate, padded_groups
from discsum.parsers.long_lstm import STEPS, run_in_pieces
from discsum.parsers.subwords import Subwords, cut_windows


@dataclass(frozen=True)
class EDULayout:
    """Positions, layout and words of consecutive EDUs, of one or several documents; tensors are on the CPU.

    Attributes:
        starts: `(edus,)` first subword of each EDU; an EDU that has none shares the next EDU's.
        ends: `(edus,)` the subword after each EDU's last.
        openings: `(edus,)` where each EDU begins: 0 inside a sentence, 1 at its start, 2 at the start of a line, 3 of a
            paragraph.
        closings: `(edus,)` the same for what follows each EDU; 3 at the end of a text.
        bags: `(edus, width)` result of `lexical_bags`, for networks with cohesion.
    """

    starts: Tensor
    ends: Tensor
    openings: Tensor
    closings: Tensor
    bags: Tensor | None = None

    @classmethod
    def of(
        cls,
        starts: NDArray[np.int64],
        ends: NDArray[np.int64],
        openings: NDArray[np.int64],
        bags: NDArray[np.float32] | None = None,
    ) -> EDULayout:
        """Return the layout of EDUs; `openings` `(edus + 1,)` also has the opening of what follows the last EDU."""
        kinds = torch.from_numpy(openings)
        words = None if bags is None else torch.from_numpy(bags)
        return cls(torch.from_numpy(starts), torch.from_numpy(ends), kinds[:-1], kinds[1:], words)

    @classmethod
    def concatenate(cls, layouts: Sequence[EDULayout], subwords: Sequence[int]) -> EDULayout:
        """Return the concatenated layouts of documents; `subwords` counts each document's vectors, for offsets."""
        if len(layouts) == 1:
            return layouts[0]
        before = np.cumsum([0, *subwords])[:-1].tolist()
        starts, ends = (
            torch.cat([getattr(layout, name) + offset for layout, offset in zip(layouts, before, strict=True)])
            for name in ("starts", "ends")
        )
        openings, closings = (torch.cat([getattr(own, name) for own in layouts]) for name in ("openings", "closings"))
        bags = [layout.bags for layout in layouts if layout.bags is not None]
        return cls(starts, ends, openings, closings, torch.cat(bags) if bags else None)


OPENS_PARAGRAPH = 3


def opening_kinds(subwords: Subwords, opens: NDArray[np.bool_], starts: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the openings (see `EDULayout`) of EDUs at `starts`; `opens` marks subwords that begin a sentence."""
    return np.where(opens[starts], np.maximum(subwords.gaps[starts], 1), 0)


LENGTH_BUCKETS = (2, 3, 4, 6, 8, 11, 15, 20, 28, 40)


# Attention heads over EDUs. EDUs per attention window, enough for all documents of a treebank, and their overlap.
HEADS = 6
SPAN, SHARED = 512, 128


class EDUEncoder(nn.Module):
    """Encodes EDUs by first, last and pooled subword and layout, then by a bidirectional LSTM over the EDUs.

    Transformer layers may follow. They read a long document in overlapping windows of EDUs, so that time and memory
    stay linear. They need no position embeddings, because the LSTM's states encode the order.
    """

    def __init__(self, width: int, hidden: int, layers: int, dropout: float, transformer: int) -> None:
        """Build an encoder from subword vectors of size `width` to EDU states of size `hidden`."""
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

    def in_context(self, pooled: Tensor, counts: Sequence[int]) -> Tensor:
        """Return EDU states `(edus, hidden)` from pooled EDU vectors `(edus, hidden)`.

        Args:
            pooled: Pooled vectors of the EDUs of some documents, concatenated.
            counts: Number of EDUs of each document.
        """
        context = self._across(pooled, counts)
        # Without gradients, the states overwrite the LSTM's output to save memory.
        states = torch.empty_like(context) if torch.is_grad_enabled() else context
        for start in range(0, len(pooled), STEPS):
            steps = slice(start, start + STEPS)
            states[steps] = self.norm(pooled[steps] + self.dropout(context[steps]))
        return self._attended(states, counts) if self.transformer else states

    def _across(self, pooled: Tensor, counts: Sequence[int]) -> Tensor:
        """Return the LSTM's states `(edus, hidden)`; documents of similar length are batched."""
        documents: list[Tensor] = [*torch.split(pooled, [*counts])]
        for group in padded_groups(counts, budget_of(pooled.device).edus):
            if len(group) == 1:
                documents[group[0]] = run_in_pieces(self.context, documents[group[0]])
                continue
            packed = pack_sequence([documents[index] for index in reversed(group)])
            # (documents, longest, hidden)
            found, _ = pad_packed_sequence(self.context(packed)[0], batch_first=True)
            for index, states in zip(reversed(group), found, strict=True):
                documents[index] = states[: counts[index]]
        return concatenate(documents)

    def _attended(self, states: Tensor, counts: Sequence[int]) -> Tensor:
        """Return the Transformer's states `(edus, hidden)`; windows of similar length are batched."""
        runs, starts = cut_windows(counts, SPAN, SHARED), np.cumsum([0, *counts]).tolist()
        # Filled run by run, so that the outputs of all windows are never in memory together.
        found = torch.empty_like(states)
        sizes = [run.end - run.start for run in runs]
        for group in padded_groups(sizes, budget_of(states.device).edus):
            some = [states[starts[runs[index].document] :][runs[index].start : runs[index].end] for index in group]
            # (runs, longest, hidden)
            batch = pad_sequence(some, batch_first=True)
            lengths = torch.tensor([sizes[index] for index in group])
            padding = torch.arange(batch.shape[1]) >= lengths[:, None]
            mask = padding.to(states.device, non_blocking=True) if padding.any() else None
            for layer in self.transformer:
                batch = layer(batch, src_key_padding_mask=mask)
            for row, index in enumerate(group):
                run = runs[index]
                first, kept = starts[run.document], slice(run.keep_start - run.start, run.keep_end - run.start)
                found[first + run.keep_start : first + run.keep_end] = batch[row, kept]
        return found

    def pool(self, vectors: Tensor, layout: EDULayout) -> Tensor:
        """Return `(edus, hidden)`: each EDU's vector, pooled from its own subword vectors `(subwords, width)`."""
        starts, ends, count = layout.starts, layout.ends, len(layout.starts)
        sizes = ends - starts
        # Subwords of all EDUs in order; a subword that EDUs share is repeated for each of them.
        first, owner = sizes.cumsum(0) - sizes, torch.repeat_interleave(torch.arange(count), sizes)
        index = torch.arange(len(owner)) - (first - starts)[owner]
        first, owner, index, starts, ends, openings, closings, sizes = (
            part.to(vectors.device, non_blocking=True)
            for part in (first, owner, index, starts, ends, layout.openings, layout.closings, sizes)
        )
        # Attention within each EDU.
        # Mixed precision gives scores of another type than the vectors.
        scores = self.attention(vectors).squeeze(-1).to(vectors.dtype)[index]
        largest = scores.new_full((count,), -torch.inf).scatter_reduce(0, owner, scores.detach(), "amax")
        weights = torch.exp(scores - largest[owner])
        # Weighted sums, without keeping a weighted vector of every subword in memory.
        sums = embedding_bag(index, vectors, first, mode="sum", per_sample_weights=weights)
        mean = sums / weights.new_zeros(count).index_add(0, owner, weights)[:, None]
        states = self.project(self.dropout(torch.cat([vectors[starts], vectors[ends - 1], mean], dim=-1)))
        lengths = self.length(torch.bucketize(sizes, self.get_buffer("buckets")))
        states = states + self.opening(openings) + self.closing(closings) + lengths
        pooled: Tensor = self.dropout(self.pooled_norm(gelu(states)))
        return pooled
