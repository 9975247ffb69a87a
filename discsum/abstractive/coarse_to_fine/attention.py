"""Attention to chunks and to their words (Ling and Rush 2017, section 4)."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from discsum.abstractive.coarse_to_fine.choices import STANDARD
from discsum.abstractive.coarse_to_fine.config import CoarseToFineConfig
from discsum.abstractive.coarse_to_fine.memory import ChunkMemory


@dataclass(frozen=True, eq=False)
class StepAttention:
    """What one step of each row reads.

    Attributes:
        context: `(rows, hidden)` weighted mean of the words' states (Eq 3).
        coarse: `(rows, chunks)` attention to chunks, before any choice.
        log_choice: `(rows,)` log probability of the chosen chunks without the multinomial coefficient, the sum of
            `mu_i log alpha_i`; 0 where nothing was chosen.
        chunks: `(rows, k)` the chunks that were read.
        words: `(rows, k, length)` attention to their words, rows sum to 1.
    """

    context: Tensor
    coarse: Tensor
    log_choice: Tensor
    chunks: Tensor
    words: Tensor


class ChunkAttention(nn.Module):
    """Attention `alpha_ij = alpha^s_i * alpha^w_ij` to word j of chunk i, where `alpha^s` may be a choice of chunks."""

    def __init__(self, config: CoarseToFineConfig) -> None:
        """Build the bilinear forms of both levels (Eq 1)."""
        super().__init__()
        self.config = config
        self.fine = nn.Linear(config.hidden_size, config.hidden_size, bias=False)
        if config.variant != STANDARD:
            self.coarse = nn.Linear(config.hidden_size, config.coarse_size, bias=False)

    def forward(
        self, query: Tensor, vectors: Tensor, memory: ChunkMemory, *, soft: bool, choices: Tensor | None = None
    ) -> StepAttention:
        """Return what a step reads.

        Args:
            query: `(rows, hidden)` states of the decoder; rows of a document are adjacent.
            vectors: `(rows, chunks, coarse_size)` coarse vectors.
            memory: States of the words of the documents.
            soft: Whether all chunks are read, weighted by attention. Otherwise only chosen chunks are read, and the
                choice passes no gradient to the decoder.
            choices: `(rows, k)` chunks to read, with equal weights, instead of sampled ones (in training) or the best.
        """
        rows, documents = len(query), len(memory.grid.words)
        scores = self._coarse_scores(query if soft else query.detach(), vectors, rows // documents, memory)
        logs = scores.log_softmax(dim=1)
        attention = logs.exp()
        if soft:
            chunks = torch.arange(scores.shape[1], device=query.device).expand(rows, -1)
            states, mask, weights = memory.all(), memory.grid.mask, attention
            log_choice = query.new_zeros(rows)
        else:
            chunks, weights = self._chosen(attention, choices)
            owners = torch.arange(rows, device=query.device) // (rows // documents)
            states = memory.read(owners, chunks)
            mask = memory.grid.mask[owners[:, None], chunks]
            log_choice = logs.gather(1, chunks).sum(1)
        words = self._fine_attention(query, states, mask) * weights[..., None]
        # (groups, rows of a group, k * length) by (groups, k * length, hidden)
        groups = len(states)
        context = words.view(groups, rows // groups, -1) @ states.flatten(1, 2)
        return StepAttention(context.flatten(0, 1), attention, log_choice, chunks, words)

    def _coarse_scores(self, query: Tensor, vectors: Tensor, copies: int, memory: ChunkMemory) -> Tensor:
        """Return `(rows, chunks)`; minus infinity for chunks without words, unless padding is attended to."""
        if self.config.variant == STANDARD:
            return query.new_zeros(len(query), 1)
        scores: Tensor = (vectors @ self.coarse(query)[..., None]).squeeze(-1)
        if self.config.reads_padding:
            return scores
        return scores.masked_fill((memory.grid.counts == 0).repeat_interleave(copies, dim=0), float("-inf"))

    def _chosen(self, attention: Tensor, choices: Tensor | None) -> tuple[Tensor, Tensor]:
        """Return chunks `(rows, k)` and their weights, which sum to 1."""
        k = self.config.samples
        if choices is None and not self.training:
            best = attention.topk(min(k, attention.shape[1]), dim=1)
            return best.indices, best.values / best.values.sum(dim=1, keepdim=True)
        chunks = torch.multinomial(attention, k, replacement=True) if choices is None else choices
        return chunks, attention.new_full(chunks.shape, 1.0 / chunks.shape[1])

    def _fine_attention(self, query: Tensor, states: Tensor, mask: Tensor) -> Tensor:
        """Return `(rows, k, length)`: attention to the words of `k` chunks, which sums to 1 for each (Eq 1, 2).

        `states` are `(groups, k, length, hidden)` and `mask` the same without `hidden`. The rows of a group are
        adjacent and read the same states. If padding is not attended to, a chunk without words sums to 0.
        """
        groups, k, length, hidden = states.shape
        projected = self.fine(query).view(groups, -1, hidden)
        # (groups, rows of a group, k, length)
        scores: Tensor = (projected @ states.flatten(1, 2).transpose(1, 2)).view(groups, -1, k, length)
        if self.config.reads_padding:
            return scores.softmax(dim=-1).flatten(0, 1)
        inside = mask[:, None]
        lowest = torch.finfo(scores.dtype).min
        return (scores.masked_fill(~inside, lowest).softmax(dim=-1) * inside).flatten(0, 1)
