"""A tensor whose rows come in pieces."""

from __future__ import annotations

import torch
from torch import Tensor

# Size of the parts in which rows are gathered. Memory of so many bytes goes back to the system when freed; that of
# smaller tensors stays with the process (mallopt(3), M_MMAP_THRESHOLD), between others that are still used.
PART = 48 * 1024**2


class Gathered:
    """The rows of a tensor from its first on; a single piece is kept as it is."""

    def __init__(self) -> None:
        """Begin with no row."""
        self._parts: list[Tensor] = []
        # Rows of the last part that are filled.
        self._filled = 0

    def add(self, piece: Tensor) -> None:
        """Go on with the next rows."""
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
