"""The encoder: coarse vectors of all chunks, and an LSTM over the words of those that are read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence
from transformers.utils.generic import ModelOutput

from discsum.abstractive.coarse_to_fine.choices import C2F, CONV, STANDARD
from discsum.abstractive.coarse_to_fine.config import CoarseToFineConfig
from discsum.abstractive.coarse_to_fine.grid import ChunkGrid, rows_of_words
from discsum.abstractive.coarse_to_fine.memory import ChunkMemory, Ends, Record
from discsum.errors import InputError


@dataclass
class EncodedChunks(ModelOutput):
    """Result of the encoder.

    Attributes:
        last_hidden_state: `(documents, chunks, coarse_size)` coarse vectors, of size 0 for `standard`; `generate`
            repeats them for the beams of a document.
        memory: The words' states, once for all beams of a document.
        chunk_ids: `(documents, tokens)` chunk of each token, -1 for padding.
    """

    last_hidden_state: Tensor | None = None
    memory: ChunkMemory | None = None
    chunk_ids: Tensor | None = None


class CoarseEncoder(nn.Module):
    """Computes a chunk's vector: a convolution with max-over-time pooling (Kim 2014), or a sum of embeddings."""

    def __init__(self, config: CoarseToFineConfig) -> None:
        """Build the filters or word embeddings, and position embeddings."""
        super().__init__()
        self.config = config
        if config.coarse == CONV:
            self.filters = nn.Conv1d(config.embedding_size, config.filters, config.filter_width)
        else:
            self.words = nn.Embedding(config.vocab_size, config.embedding_size)
        if config.positions:
            places = config.max_chunks if config.shape is None else config.shape[0]
            self.places = nn.Embedding(places, config.position_size)

    def forward(self, grid: ChunkGrid, embeddings: nn.Embedding, *, detached: bool) -> Tensor:
        """Return the vectors `(documents, chunks, coarse_size)`.

        Args:
            grid: The chunks.
            embeddings: The words' embeddings, which the convolution reads.
            detached: Whether to pass no gradient to these embeddings.
        """
        # (documents * chunks, length)
        words, mask = grid.words.flatten(0, 1), grid.mask.flatten(0, 1)
        if self.config.coarse == CONV:
            vectors = self._convolved(words, mask, embeddings.weight.detach() if detached else embeddings.weight)
        else:
            weights = mask.to(self.words.weight.dtype)
            vectors = nn.functional.embedding_bag(words, self.words.weight, mode="sum", per_sample_weights=weights)
        vectors = vectors.view(*grid.counts.shape, -1)
        if not self.config.positions:
            return vectors
        order = torch.arange(vectors.shape[1], device=vectors.device).clamp(max=self.places.num_embeddings - 1)
        return torch.cat([vectors, self.places(order).expand(len(vectors), -1, -1)], dim=-1)

    def _convolved(self, words: Tensor, mask: Tensor, weight: Tensor) -> Tensor:
        """Return `(rows, filters)`: the maximum of each filter over the windows of `(rows, length)` words."""
        embedded = nn.functional.embedding(words, weight) * mask[..., None]
        width = self.config.filter_width
        # A chunk shorter than a window has one window, padded with zeros.
        embedded = nn.functional.pad(embedded, (0, 0, 0, max(0, width - words.shape[1])))
        # (rows, filters, windows)
        found: Tensor = self.filters(embedded.transpose(1, 2)).relu()
        if not self.config.reads_padding:
            starts = torch.arange(found.shape[2], device=found.device)
            inside = starts <= (mask.sum(1, keepdim=True) - width).clamp(min=0)
            # Masked windows never win the maximum, because no value is below 0 after the ReLU.
            found = found * inside[:, None]
        return found.amax(dim=2)


class ChunkEncoder(nn.Module):
    """Encodes chunks: all of them coarsely, and their words when they are read."""

    main_input_name = "input_ids"

    def __init__(self, config: CoarseToFineConfig) -> None:
        """Build embeddings, the LSTM and the coarse encoder."""
        super().__init__()
        self.config = config
        self.embeddings = nn.Embedding(config.vocab_size, config.embedding_size)
        dropout = config.dropout if config.layers > 1 else 0.0
        self.lstm = nn.LSTM(config.embedding_size, config.hidden_size, config.layers, batch_first=True, dropout=dropout)
        self.coarse = None if config.variant == STANDARD else CoarseEncoder(config)

    def forward(
        self,
        input_ids: Tensor,
        attention_mask: Tensor | None = None,
        chunk_ids: Tensor | None = None,
        record: Record | None = None,
        whole: bool | None = None,
        output_attentions: bool | None = None,
        output_hidden_states: bool | None = None,
        return_dict: bool | None = None,
    ) -> EncodedChunks:
        """Return the coarse vectors of texts, and a memory of their words.

        Args:
            input_ids: `(documents, tokens)`.
            attention_mask: `(documents, tokens)` 0 for padding; by default no padding.
            chunk_ids: `(documents, tokens)` chunk of each token, -1 for padding; by default rows of the shape.
            record: Receives the memory.
            whole: Whether all chunks are read. If so, all are encoded now, and gradients of coarse vectors reach the
                word embeddings; otherwise they do not. By default true for every variant but `c2f`.
            output_attentions: Ignored; `generate` of transformers passes it.
            output_hidden_states: Ignored.
            return_dict: Ignored.

        Raises:
            InputError: A document without words or with more than the shape holds, no `chunk_ids` without a shape, or
                inputs that do not fit each other.
        """
        whole = self.config.variant != C2F if whole is None else whole
        mask = torch.ones_like(input_ids) if attention_mask is None else attention_mask
        shape = self.config.shape
        if chunk_ids is None:
            if shape is None:
                raise InputError(
                    f"chunk_ids: expected the chunk of each token for chunks {self.config.chunks}, got none"
                )
            chunk_ids = rows_of_words(mask, shape)
        _check(input_ids, mask, chunk_ids)
        if self.config.variant == STANDARD:
            grid = ChunkGrid.of(input_ids, chunk_ids.clamp(max=0), shape and (1, shape[0] * shape[1]))
        else:
            grid = ChunkGrid.of(input_ids, chunk_ids, shape)
        if self.coarse is None:
            vectors = self.embeddings.weight.new_zeros(*grid.counts.shape, 0)
        else:
            vectors = self.coarse(grid, self.embeddings, detached=not whole)
        memory = ChunkMemory(grid, self.encode_words, whole=whole)
        if record is not None:
            record.memory = memory
        return EncodedChunks(last_hidden_state=vectors, memory=memory, chunk_ids=chunk_ids)

    def encode_words(self, words: Tensor, counts: Tensor) -> tuple[Tensor, Ends]:
        """Return the states of chunks; see `EncodeChunks`."""
        packed: Any = pack_padded_sequence(self.embeddings(words), counts.cpu(), batch_first=True, enforce_sorted=False)
        states, ends = self.lstm(packed)
        padded, _ = pad_packed_sequence(states, batch_first=True, total_length=words.shape[1])
        return padded, ends


def _check(input_ids: Tensor, mask: Tensor, chunk_ids: Tensor) -> None:
    """Raise `InputError` unless all are `(documents, tokens)`, and tokens outside the mask are in no chunk."""
    for name, given in (("attention_mask", mask), ("chunk_ids", chunk_ids)):
        if given.shape != input_ids.shape:
            raise InputError(f"{name}: expected the shape {tuple(input_ids.shape)}, got {tuple(given.shape)}")
    if ((chunk_ids >= 0) & (mask == 0)).any():
        raise InputError("chunk_ids: expected -1 for tokens that attention_mask leaves out, got a chunk")
