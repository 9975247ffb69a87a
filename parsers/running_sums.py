"""Running sums over a document's EDUs, from which the sum over any span is a difference of two."""

from __future__ import annotations

import torch
from torch import Tensor

# Rows that are worked on at once, which bounds memory.
PIECE = 1024
# Rows up to which every sum is kept.
FEW = 4096
# Of more rows a sum is kept for every so many; those between are made from it where they are asked for.
BLOCK = 8


class RunningSums:
    """Sums `(rows + 1, width)` of the rows before each place.

    In float64: the difference of two sums over a long document keeps its digits.
    """

    def __init__(self, rows: Tensor, scale: float = 1.0) -> None:
        """Sum up `rows` `(rows, width)`, times `scale`."""
        self._rows, self._scale = rows, scale
        self._block = BLOCK if len(rows) > FEW else 1
        before, kept = rows.new_zeros(1, rows.shape[1], dtype=torch.float64), []
        # Pieces are whole blocks.
        for piece in torch.split(rows, max(1, PIECE // BLOCK) * BLOCK):
            sums = torch.cat([before, piece.double() * scale]).cumsum(dim=0)
            # A copy, so that the others leave memory.
            kept.append(sums[: -1 : self._block].clone())
            before = sums[-1:]
        self._kept = torch.cat([*kept, before])

    def __len__(self) -> int:
        """Return the number of sums, one more than there are rows."""
        return len(self._rows) + 1

    @property
    def whole(self) -> Tensor:
        """The sum of all rows `(width,)`."""
        return self._kept[-1]

    def __getitem__(self, places: Tensor) -> Tensor:
        """Return the sums before some rows `(..., width)`, of places of any shape."""
        if self._block == 1:
            return self._kept[places]
        block, own = places // BLOCK, torch.arange(places.numel(), device=places.device).view(places.shape)
        if places.device.type == "cpu":
            # Places that share a block share its sums; a GPU computes them sooner than it counts them.
            block, own = torch.unique(block, return_inverse=True)
        block = block.flatten()
        # (blocks, rows but the last)
        index = block[:, None] * BLOCK + torch.arange(BLOCK - 1, device=places.device)
        rows = self._rows[index.clamp_max(len(self._rows) - 1)].double() * self._scale
        # (blocks, rows, width)
        sums = torch.cat([self._kept[block][:, None], rows], dim=1).cumsum(dim=1)
        return sums[own, places % BLOCK]
