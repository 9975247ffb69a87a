"""Word-level states of chunks, which are encoded on first use."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

from discsum.abstractive.coarse_to_fine.grid import ChunkGrid

# States and cells of an LSTM after the last word, each `(layers, chunks, hidden)`.
Ends = tuple[Tensor, Tensor]
# Takes the words `(chunks, length)` of chunks and their numbers of words `(chunks,)`; returns the words' states
# `(chunks, length, hidden)`, 0 after the last word, and the ends.
EncodeChunks = Callable[[Tensor, Tensor], tuple[Tensor, Ends]]


class ChunkMemory:
    """The states of a batch of documents; chunks without words have states of 0 and are never encoded.

    Attributes:
        grid: The chunks.
        end: LSTM state and cell, each `(layers, documents, hidden)`, after the last word of each document.
    """

    def __init__(self, grid: ChunkGrid, encode: EncodeChunks, *, whole: bool) -> None:
        """Encode the last chunk of each document, or all chunks at once if `whole`."""
        self.grid, self._encode = grid, encode
        # Row of each chunk in the bank of states: 0 for no words, -1 for not encoded yet.
        self._slots = torch.where(grid.counts > 0, -1, 0)
        self._bank: Tensor | None = None
        self._all: Tensor | None = None
        documents = torch.arange(len(grid.words), device=grid.words.device)
        if whole:
            new = (self._slots < 0).nonzero()
            states, cells = self._add(*new.unbind(1))
            behind = (new[:, 1] == grid.last[new[:, 0]]).nonzero().flatten()
            self.end = states[:, behind], cells[:, behind]
        else:
            self.end = self._add(documents, grid.last)

    @property
    def encoded(self) -> Tensor:
        """`(documents,)`: number of chunks that were encoded."""
        return (self._slots > 0).sum(1)

    def read(self, documents: Tensor, chunks: Tensor) -> Tensor:
        """Return the states `(rows, k, length, hidden)` of chunks `(rows, k)` of the document of each row."""
        wanted = torch.zeros_like(self._slots, dtype=torch.bool)
        wanted[documents[:, None], chunks] = True
        new = (wanted & (self._slots < 0)).nonzero()
        if len(new):
            self._add(*new.unbind(1))
        assert self._bank is not None, "the last chunks are in it"
        slots = self._slots[documents[:, None], chunks]
        found = self._bank.index_select(0, slots.flatten())
        return found.view(*slots.shape, *found.shape[1:])

    def all(self) -> Tensor:
        """Return the states `(documents, chunks, length, hidden)` of all chunks."""
        if self._all is None:
            documents = torch.arange(len(self._slots), device=self._slots.device)
            chunks = torch.arange(self._slots.shape[1], device=self._slots.device)
            self._all = self.read(documents, chunks.expand(self._slots.shape))
        return self._all

    def _add(self, documents: Tensor, chunks: Tensor) -> Ends:
        """Encode chunks that are not in the bank yet, given as two `(chunks,)`; return their ends."""
        states, ends = self._encode(self.grid.words[documents, chunks], self.grid.counts[documents, chunks])
        if self._bank is None:
            self._bank = states.new_zeros(1, *states.shape[1:])
        self._slots[documents, chunks] = torch.arange(len(states), device=states.device) + len(self._bank)
        # A copy, because autograd may need the old bank; it takes little time beside the LSTM.
        self._bank = torch.cat([self._bank, states])
        return ends


@dataclass
class Record:
    """Receives the memory of a call of `forward` or `generate`, to count what was encoded."""

    memory: ChunkMemory | None = None

    def to(self, device: object) -> Record:
        """Return itself, because there is nothing to move."""
        return self
