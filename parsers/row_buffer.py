"""A tensor that is built from pieces of rows."""

from __future__ import annotations

import torch
from torch import Tensor

# Bytes of each buffer. glibc returns an allocation of this size to the system when it is freed; the memory of smaller
# tensors stays with the process, between others that are still in use (mallopt(3), M_MMAP_THRESHOLD).
PART = 48 * 1024**2


class RowBuffer:
    """Collects the rows of a tensor in order; a single piece is kept without a copy."""

    def __init__(self) -> None:
        """Start without rows."""
        self._parts: list[Tensor] = []
        # Rows of the last part that are filled.
        self._filled = 0

    def add(self, piece: Tensor) -> None:
        """Append the next rows."""
        if not self._parts:
            self._parts, self._filled = [piece], len(piece)
            return
        while len(piece):
            if self._filled == len(self._parts[-1]):
                rows = max(1, PART // piece[0].nbytes)
                self._parts.append(piece.new_empty(rows, *piece.shape[1:]))
                self._filled = 0
            some = min(len(piece), len(self._parts[-1]) - self._filled)
            self._parts[-1][self._filled : self._filled + some] = piece[:some]
            self._filled, piece = self._filled + some, piece[some:]

    def whole(self, width: int) -> Tensor:
        """Return all rows, `(0, width)` if there are none."""
        if not self._parts:
            return torch.zeros(0, width)
        parts = [*self._parts[:-1], self._parts[-1][: self._filled]]
        return parts[0] if len(parts) == 1 else torch.cat(parts)
