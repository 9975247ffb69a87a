"""The chunks of a batch of texts as a grid of words."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import torch
from torch import Tensor

from discsum.errors import InputError


@dataclass(frozen=True, eq=False)
class ChunkGrid:
    """The words of each chunk of each document, padded on the right.

    Attributes:
        words: `(documents, chunks, length)` token ids; 0 where there is no word.
        counts: `(documents, chunks)` number of words of each chunk.
        places: `(documents, tokens)` index of each token in its document's flattened grid, -1 for padding.
    """

    words: Tensor
    counts: Tensor
    places: Tensor

    @cached_property
    def mask(self) -> Tensor:
        """`(documents, chunks, length)`: true where there is a word."""
        return torch.arange(self.words.shape[2], device=self.words.device) < self.counts[..., None]

    @cached_property
    def last(self) -> Tensor:
        """`(documents,)`: the last chunk with a word."""
        order = torch.arange(1, self.counts.shape[1] + 1, device=self.counts.device)
        return ((self.counts > 0) * order).argmax(dim=1)

    @classmethod
    def of(cls, input_ids: Tensor, chunk_ids: Tensor, shape: tuple[int, int] | None = None) -> ChunkGrid:
        """Return the grid of texts.

        Args:
            input_ids: `(documents, tokens)`.
            chunk_ids: `(documents, tokens)` the chunk of each token, -1 for padding; a chunk is a run of tokens.
            shape: Rows, and words per row, of every document; by default the largest of the batch.

        Raises:
            InputError: A document without a word in a chunk, chunks that are not runs, or more than the shape holds.
        """
        inside = chunk_ids >= 0
        _check(chunk_ids, inside)
        chunks = int(chunk_ids.max()) + 1
        rows, length = shape or (chunks, 0)
        # The last column counts the padding.
        columns = chunk_ids.masked_fill(~inside, max(rows, chunks))
        counts = chunk_ids.new_zeros(len(chunk_ids), max(rows, chunks) + 1)
        counts = counts.scatter_add(1, columns, torch.ones_like(chunk_ids))[:, :-1]
        length = length or int(counts.max())
        if chunks > rows or int(counts.max()) > length:
            raise InputError(
                f"chunk_ids: expected at most {rows} chunks of {length} words, got {chunks} of up to "
                f"{int(counts.max())}; truncate the text (--truncate; Python: truncate=True)"
            )
        before = torch.nn.functional.pad(counts.cumsum(1) - counts, (0, 1))
        rank = inside.cumsum(1) - 1 - before.gather(1, columns)
        places = (chunk_ids * length + rank).masked_fill(~inside, -1)
        flat = input_ids.new_zeros(len(input_ids), rows * length + 1)
        # Padding is written after the grid and dropped.
        flat.scatter_(1, places % flat.shape[1], input_ids)
        return cls(flat[:, :-1].reshape(-1, rows, length), counts, places)


def rows_of_words(mask: Tensor, shape: tuple[int, int]) -> Tensor:
    """Return `(documents, tokens)` the chunk of each token where chunks are rows of a shape; -1 outside the mask.

    Raises:
        InputError: More words than the shape holds.
    """
    rows, length = shape
    inside = mask.bool()
    most = int(inside.sum(1).max())
    if most > rows * length:
        raise InputError(
            f"expected at most {rows * length} words, {rows} rows of {length}, got {most}; truncate the text "
            "(--truncate; Python: truncate=True)"
        )
    return torch.where(inside, (inside.cumsum(1) - 1) // length, -1)


def _check(chunk_ids: Tensor, inside: Tensor) -> None:
    empty = (~inside.any(1)).nonzero().flatten().tolist()
    if empty:
        raise InputError(f"document {empty[0]}: expected at least one word in a chunk, got none")
    # Highest chunk up to each token; padding, which is -1, does not change it.
    highest = chunk_ids.cummax(1).values
    wrong = (inside & (chunk_ids < highest)).any(1).nonzero().flatten().tolist()
    if wrong:
        row = chunk_ids[wrong[0]].tolist()
        raise InputError(f"document {wrong[0]}: expected each chunk to be one run of tokens, in order, got {row}")
