"""The decoder: an LSTM with attention and input feeding (Ling and Rush 2017, section 3)."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from discsum.abstractive.coarse_to_fine.attention import ChunkAttention, StepAttention
from discsum.abstractive.coarse_to_fine.cache import RecurrentCache
from discsum.abstractive.coarse_to_fine.config import CoarseToFineConfig
from discsum.abstractive.coarse_to_fine.memory import ChunkMemory


class AttentiveDecoder(nn.Module):
    """Reads the tokens written so far, one after another."""

    def __init__(self, config: CoarseToFineConfig) -> None:
        """Build embeddings, the LSTM, attention and the map to contexts."""
        super().__init__()
        self.embeddings = nn.Embedding(config.vocab_size, config.embedding_size)
        dropout = config.dropout if config.layers > 1 else 0.0
        size = config.embedding_size + config.hidden_size
        self.lstm = nn.LSTM(size, config.hidden_size, config.layers, batch_first=True, dropout=dropout)
        self.attention = ChunkAttention(config)
        self.combine = nn.Linear(2 * config.hidden_size, config.hidden_size, bias=False)

    def forward(
        self,
        tokens: Tensor,
        vectors: Tensor,
        memory: ChunkMemory,
        cache: RecurrentCache,
        *,
        soft: bool,
        choices: Tensor | None = None,
    ) -> tuple[Tensor, Sequence[StepAttention]]:
        """Return the contexts `(rows, steps, hidden)` `c_t = tanh(W2 [c~_t, h_t])`, and what each step read.

        Args:
            tokens: `(rows, steps)` tokens that follow those of the cache.
            vectors: `(rows, chunks, coarse_size)` coarse vectors.
            memory: States of the documents' words; every document has the same number of rows.
            cache: State after the previous tokens, which this call updates. An empty one starts from the state after
                the last word of the document.
            soft: Whether all chunks are read.
            choices: `(rows, steps, k)` chunks to read; see `ChunkAttention`.
        """
        rows = len(tokens)
        hidden, cell, feed = cache.hidden, cache.cell, cache.feed
        if hidden is None or cell is None or feed is None:
            copies = rows // len(memory.grid.words)
            hidden, cell = (part.repeat_interleave(copies, dim=1) for part in memory.end)
            feed = hidden.new_zeros(rows, hidden.shape[2])
        embedded = self.embeddings(tokens)
        contexts, attentions = [], []
        for step in range(tokens.shape[1]):
            fed = torch.cat([embedded[:, step], feed], dim=1)[:, None]
            output, (hidden, cell) = self.lstm(fed, (hidden.contiguous(), cell.contiguous()))
            query = output[:, 0]
            given = None if choices is None else choices[:, step]
            attention = self.attention(query, vectors, memory, soft=soft, choices=given)
            feed = self.combine(torch.cat([attention.context, query], dim=1)).tanh()
            contexts.append(feed)
            attentions.append(attention)
        cache.hidden, cache.cell, cache.feed = hidden, cell, feed
        cache.length += tokens.shape[1]
        return torch.stack(contexts, dim=1), attentions
