"""The decoder's recurrent state during generation."""

from __future__ import annotations

from dataclasses import dataclass

from torch import Tensor


@dataclass
class RecurrentCache:
    """State of the decoder after the tokens that it has read, reordered by beam search; it starts empty.

    Attributes:
        hidden: `(layers, rows, hidden)` states of the LSTM.
        cell: `(layers, rows, hidden)` its cells.
        feed: `(rows, hidden)` the last context vector, input of the next step.
        length: Number of tokens read.
    """

    hidden: Tensor | None = None
    cell: Tensor | None = None
    feed: Tensor | None = None
    length: int = 0
    # Attributes that `generate` of transformers reads from caches.
    is_compileable = False
    is_linear = (False,)

    def get_seq_length(self, layer: int = 0) -> int:
        """Return the number of tokens that it has read."""
        return self.length

    def reorder_cache(self, beam_idx: Tensor) -> None:
        """Give each row the state of the row that `beam_idx` `(rows,)` names."""
        if self.hidden is None or self.cell is None or self.feed is None:
            return
        self.hidden, self.cell = (part.index_select(1, beam_idx) for part in (self.hidden, self.cell))
        self.feed = self.feed.index_select(0, beam_idx)
