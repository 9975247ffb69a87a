"""Overlapping blocks of documents (Yap et al., section 3.3.2), and the index tables that stack them.

The paper's stride `n / (c + 1)` covers a text of n tokens only for c = 3 blocks. Here blocks have a length of
`r = n / (c - 1)` tokens and a stride of `(n - r) / (c - 1)`. This covers any text with any number of blocks, and equals
the paper's stride for c = 3.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import torch
from torch import Tensor

from discsum.abstractive.sentence_layout import SentenceLayout


class Block(NamedTuple):
    """Half-open token ranges of a block in its document: its queries, and its keys, which include the queries."""

    first_query: int
    last_query: int
    first_key: int
    last_key: int


def split(tokens: int, blocks: int, borders: Sequence[int] | None = None) -> list[Block]:
    """Return the blocks of a document; each token is a query of exactly one block, which also has it as a key.

    Without borders, all blocks read `ceil(tokens / (blocks - 1))` tokens. A single block is the whole document.

    Args:
        tokens: Tokens of the document.
        blocks: Number of blocks; if there are more blocks than tokens, some have no queries.
        borders: Ascending positions from 0 to `tokens` where units begin or end. Blocks then grow to the next border on
            both sides, and queries are split at the nearest border, so that every token reads its whole unit.
    """
    if blocks == 1:
        return [Block(0, tokens, 0, tokens)]
    length = -(-tokens // (blocks - 1))
    cuts = [place * tokens // blocks for place in range(blocks + 1)]
    starts = [place * (tokens - length) // (blocks - 1) for place in range(blocks)]
    ends = [start + length for start in starts]
    if borders is not None:
        cuts = [_nearest(borders, cut) for cut in cuts]
        starts = [borders[bisect_right(borders, start) - 1] for start in starts]
        ends = [borders[bisect_left(borders, end)] for end in ends]
    return [Block(*bounds) for bounds in zip(cuts, cuts[1:], starts, ends, strict=False)]


def _nearest(borders: Sequence[int], place: int) -> int:
    return min(borders, key=lambda border: abs(border - place))


@dataclass(frozen=True, eq=False)
class BlockTables:
    """The blocks of a batch of documents.

    Attributes:
        mask: `(documents, tokens)`: true for tokens, false for padding.
        bounds: `(documents, blocks, 4)`: the attributes of each `Block`, as positions in its row of `mask`.
    """

    mask: Tensor
    bounds: Tensor

    @classmethod
    def of(cls, mask: Tensor, blocks: int, borders: SentenceLayout | None = None) -> BlockTables:
        """Return the blocks of documents with a `mask`, each split by its own length, optionally at `borders`."""
        first = mask.long().argmax(dim=1)
        last = mask.shape[1] - mask.flip(1).long().argmax(dim=1)
        lengths = torch.where(mask.any(dim=1), last - first, 0)
        rows = []
        # The blocks of a document do not depend on the rest of the batch.
        for document, (offset, tokens) in enumerate(zip(first.tolist(), lengths.tolist(), strict=True)):
            own = None
            if borders is not None and tokens:
                own = [start - offset for start, _ in borders.spans[document]] + [tokens]
            rows.append([[bound + offset for bound in one] for one in split(tokens, blocks, own)])
        return cls(mask, torch.tensor(rows, device=mask.device))

    @cached_property
    def keys(self) -> Tensor:
        """`(documents * blocks, keys)`: index of each key in the flattened batch; 0 where there is none."""
        return self._rows(2)[0]

    @cached_property
    def inside(self) -> Tensor | None:
        """`(documents * blocks, keys)`: true for keys that exist; None if all do."""
        keys, inside = self._rows(2)
        inside = inside & self.mask.flatten()[keys]
        return None if bool(inside.all()) else inside

    @cached_property
    def queries(self) -> Tensor:
        """`(documents * blocks, queries)`: index of each query in the flattened batch; 0 where there is none."""
        return self._rows(0)[0]

    @cached_property
    def even(self) -> bool:
        """Whether `queries` are simply all tokens in order: no padding, and as many queries in every block."""
        return self.queries.numel() == self.mask.numel() and not self.padded

    @cached_property
    def places(self) -> Tensor:
        """`(documents * tokens,)`: index of each token in the flattened `queries`; 0 for padding."""
        queries, inside = self._rows(0)
        places = torch.zeros(self.mask.numel(), dtype=torch.long, device=self.mask.device)
        places[queries[inside]] = inside.flatten().nonzero().squeeze(1)
        return places

    @cached_property
    def padded(self) -> bool:
        """Whether there is padding."""
        return not bool(self.mask.all())

    def _rows(self, side: int) -> tuple[Tensor, Tensor]:
        """Return flat indices of the tokens between bounds `side` and `side + 1`, and a mask of those that exist."""
        starts, ends = self.bounds[..., side, None], self.bounds[..., side + 1, None]
        # A table has at least one column, for batches without any token.
        columns = max(1, int((ends - starts).max()))
        # (documents, blocks, columns)
        positions = starts + torch.arange(columns, device=starts.device)
        inside = positions < ends
        offsets = torch.arange(len(self.mask), device=starts.device)[:, None, None] * self.mask.shape[1]
        return ((positions + offsets) * inside).flatten(0, 1), inside.flatten(0, 1)
