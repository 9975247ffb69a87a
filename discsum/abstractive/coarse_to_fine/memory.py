"""Word-level states of chunks, which are encoded when they are first read."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

from discsum.abstractive.coarse_to_fine.grid import ChunkGrid

# States `(layers, chunks, hidden)` and cells of an LSTM behind the last word.
Ends = tuple[Tensor, Tensor]
# Returns the states `(chunks, length, hidden)` of chunks, 0 behind their words, from their words `(chunks, length)` and
# numbers of words `(chunks,)`; and the ends.
EncodeChunks = Callable[[Tensor, Tensor], tuple[Tensor, Ends]]


class ChunkMemory:
    """The states of a batch of documents; chunks without words have states of 0 and are never encoded.

    Attributes:
        grid: The chunks.
        end: LSTM state and cell, each `(layers, documents, hidden)`, behind the last word of each document.
    """

    def __init__(self, grid: ChunkGrid, encode: EncodeChunks, *, whole: bool) -> None:
        """Encode the last chunk of each document, or with `whole` all of them at once."""
        self.grid, self._encode = grid, encode
        # Place of each chunk in the bank of states: 0 for no words, -1 for not encoded yet.
        self._slots = torch.where(grid.counts > 0, -1, 0)
        # States by place, of which the first so many are there.
        self._bank: Tensor | None = None
        self._filled = 1
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
        """`(documents,)`: chunks that were encoded."""
        return (self._slots > 0).sum(1)

    def read(self, documents: Tensor, chunks: Tensor) -> Tensor:
        """Return the states `(rows, k, length, hidden)` of `k` chunks `(rows, k)` of the document of each row."""
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
        """Encode chunks that are not here yet, each of `(chunks,)`; return the ends."""
        states, ends = self._encode(self.grid.words[documents, chunks], self.grid.counts[documents, chunks])
        if self._bank is None:
            self._bank = states.new_zeros(1, *states.shape[1:])
        self._slots[documents, chunks] = torch.arange(len(states), device=states.device) + self._filled
        self._append(self._bank, states)
        return ends

    def _append(self, bank: Tensor, states: Tensor) -> None:
        """Write states behind those of the bank."""
        filled = self._filled + len(states)
        # What gradients need must not change, nor tensors of inference mode outside of it.
        fixed = torch.is_grad_enabled() or (bank.is_inference() and not torch.is_inference_mode_enabled())
        if fixed or filled > len(bank):
            # Twice the space, if it can be filled: chunks that come one by one are not all copied again for each.
            most = filled if fixed else min(2 * filled, 1 + int((self._slots != 0).sum()))
            spare = states.new_zeros(max(0, most - filled), *states.shape[1:])
            self._bank = torch.cat([bank[: self._filled], states, spare])
        else:
            bank[self._filled : filled] = states
        self._filled = filled


@dataclass
class Record:
    """Receives the memory of a call of `forward` or `generate`, for counts of what was encoded."""

    memory: ChunkMemory | None = None

    def to(self, device: object) -> Record:
        """Return itself: nothing of it is moved."""
        return self
