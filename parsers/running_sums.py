"""Running sums over a document's EDUs: the sum over any span is the difference of two of them."""

from __future__ import annotations

import torch
from torch import Tensor

# Rows processed at once, which bounds memory.
PIECE = 1024
# Number of rows up to which every sum is kept.
FEW = 16384
# For more rows, only every `BLOCK`-th sum is kept; those between are computed from it on request.
BLOCK = 8


class RunningSums:
    """Sums `(rows + 1, width)` of the rows before each place.

    They are float64, so that the difference of two sums over a long document stays precise.
    """

    def __init__(self, rows: Tensor, scale: float = 1.0) -> None:
        """Sum up `rows` `(rows, width)`, times `scale`."""
        self._rows, self._scale = rows, scale
        self._block = BLOCK if len(rows) > FEW else 1
        before = rows.new_zeros(1, rows.shape[1], dtype=torch.float64)
        self._kept, filled = before.new_empty(-(-len(rows) // self._block) + 1, rows.shape[1]), 0
        # Pieces are whole blocks.
        for piece in torch.split(rows, max(1, PIECE // BLOCK) * BLOCK):
            sums = torch.cat([before, piece.double() * scale]).cumsum(dim=0)
            some = sums[: -1 : self._block]
            self._kept[filled : filled + len(some)] = some
            before, filled = sums[-1:], filled + len(some)
        self._kept[filled:] = before

    def __getitem__(self, places: Tensor) -> Tensor:
        """Return the sums `(..., width)` before the rows at `places`, which may have any shape."""
        if self._block == 1:
            return self._kept[places]
        block, own = places // BLOCK, torch.arange(places.numel(), device=places.device).view(places.shape)
        if places.device.type == "cpu":
            # Compute each block once. On a GPU, finding shared blocks would take longer than computing them again.
            block, own = torch.unique(block, return_inverse=True)
        block = block.flatten()
        # (blocks, all rows but the last)
        index = block[:, None] * BLOCK + torch.arange(BLOCK - 1, device=places.device)
        rows = self._rows[index.clamp_max(len(self._rows) - 1)].double() * self._scale
        # (blocks, rows, width)
        sums = torch.cat([self._kept[block][:, None], rows], dim=1).cumsum(dim=1)
        return sums[own, places % BLOCK]
