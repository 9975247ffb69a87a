"""One contextual vector per subword, for texts of any length, from overlapping windows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import nullcontext
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from discsum.constants import PRECISIONS
from discsum.devices import to_device
from discsum.parsers.budgets import budget_of, padded_groups
from discsum.parsers.subwords import Subwords, Window, cut_windows

# Windows encoded before their vectors are yielded, which bounds memory to about 50 MiB.
WINDOWS = 128


class WindowEncoder(nn.Module):
    """A Hugging Face encoder applied window by window: time and memory are linear in the text's length.

    Attributes:
        precision: Numeric precision of matrix products, one of `PRECISIONS`; sums, normalisations and weights stay in
            float32. With `fp32`, an enclosing `torch.autocast` applies, as in training.
    """

    def __init__(
        self,
        encoder: nn.Module,
        special: tuple[int, int, int],
        window: int = 256,
        overlap: int = 32,
    ) -> None:
        """Wrap `encoder`.

        Args:
            encoder: A transformers encoder, as `AutoModel` builds it.
            special: Vocabulary indices of the tokens before and after a window, and of padding.
            window: Subwords per window, the two special ones included.
            overlap: Subwords that neighbouring windows share.
        """
        super().__init__()
        self.encoder = encoder
        self.special = special
        self.window = window
        self.overlap = overlap
        self.precision = "fp32"

    @property
    def width(self) -> int:
        """Size of a vector."""
        config: Any = self.encoder.config
        return int(config.hidden_size)

    @property
    def device(self) -> torch.device:
        """Where the weights are."""
        return next(self.encoder.parameters()).device

    def forward(self, documents: Sequence[Subwords], shifts: Sequence[int] | None = None) -> list[Tensor]:
        """Return `(subwords, width)` for each document.

        Windows of all documents are sorted by length and encoded together, which needs little padding.
        """
        bounds = {index: (0, len(words)) for index, words in enumerate(documents)}
        return [*self._states(documents, self._windows(documents, shifts), bounds).values()]

    def stretches(self, documents: Sequence[Subwords]) -> Iterator[dict[int, Tensor]]:
        """Yield the vectors of `forward` in order, in stretches: `(subwords, width)` by document index.

        A stretch has at most `WINDOWS` windows, or as many as one pass takes if that is more, so that a long text's
        vectors need not be in memory at once. Documents that fit into one stretch come as one piece each, with exactly
        the vectors of `forward`.
        """
        windows = self._windows(documents, None)
        most = max(WINDOWS, budget_of(self.device).tokens // self.window)
        for first in range(0, len(windows), most):
            some = windows[first : first + most]
            # Only of the documents in this stretch: there may be many others.
            bounds: dict[int, tuple[int, int]] = {}
            for window in some:
                start, _ = bounds.get(window.document, (window.keep_start, 0))
                bounds[window.document] = start, window.keep_end
            yield self._states(documents, some, bounds)

    def _windows(self, documents: Sequence[Subwords], shifts: Sequence[int] | None) -> list[Window]:
        return cut_windows([len(words) for words in documents], self.window - 2, self.overlap, shifts)

    def _states(
        self, documents: Sequence[Subwords], windows: Sequence[Window], bounds: Mapping[int, tuple[int, int]]
    ) -> dict[int, Tensor]:
        """Encode windows; return for each document in `bounds` the vectors of the subwords between its bounds."""
        # Filled window by window, so that the outputs of all windows are never in memory together.
        found = {
            index: torch.empty(end - start, self.width, device=self.device) for index, (start, end) in bounds.items()
        }
        for batch in self._passes(windows):
            states = self._encode(documents, batch)
            for row, window in enumerate(batch):
                # Row 0 of the states is the special token before the window.
                kept = slice(1 + window.keep_start - window.start, 1 + window.keep_end - window.start)
                start = bounds[window.document][0]
                found[window.document][window.keep_start - start : window.keep_end - start] = states[row, kept]
        return found

    def first_tokens(self, units: Sequence[Subwords]) -> Tensor:
        """Encode each unit in isolation; return the states of the special token before it, `(units, width)`.

        A unit that is longer than a window is truncated.
        """
        size = self.window - 2
        windows = [Window(index, 0, min(len(unit), size), 0, 0) for index, unit in enumerate(units)]
        states = torch.zeros(len(units), self.width, device=self.device)
        for batch in self._passes(windows):
            states[[unit.document for unit in batch]] = self._encode(units, batch)[:, 0]
        return states

    def _passes(self, windows: Sequence[Window]) -> Iterator[list[Window]]:
        """Yield batches of windows of similar length."""
        sizes = [window.end - window.start + 2 for window in windows]
        groups = padded_groups(sizes, budget_of(self.device).tokens)
        yield from ([windows[index] for index in group] for group in groups)

    def _encode(self, documents: Sequence[Subwords], batch: Sequence[Window]) -> Tensor:
        before, after, padding = self.special
        longest = max(window.end - window.start for window in batch) + 2
        ids = np.full((len(batch), longest), padding, dtype=np.int64)
        mask = np.zeros((len(batch), longest), dtype=np.int64)
        for row, window in enumerate(batch):
            size = window.end - window.start
            ids[row, 0] = before
            ids[row, 1 : size + 1] = documents[window.document].ids[window.start : window.end]
            ids[row, size + 1] = after
            mask[row, : size + 2] = 1
        # Without padding no mask is needed, and attention is faster without one.
        attention = None if mask.all() else to_device(mask, self.device)
        kind = getattr(torch, PRECISIONS[self.precision])
        with nullcontext() if self.precision == "fp32" else torch.autocast(self.device.type, dtype=kind):
            output = self.encoder(input_ids=to_device(ids, self.device), attention_mask=attention)
        states: Tensor = output.last_hidden_state
        return states.float()


def longest_window(encoder: nn.Module) -> int | None:
    """Return the largest number of subwords, special ones included, that an encoder has positions for.

    None if it has no table of absolute positions, as encoders with relative or rotary positions.
    """
    table = getattr(getattr(encoder, "embeddings", None), "position_embeddings", None)
    if not isinstance(table, nn.Embedding):
        return None
    # RoBERTa and related models number positions from the padding index plus one.
    return table.num_embeddings - (0 if table.padding_idx is None else table.padding_idx + 1)


def without_pooler(encoder: Any) -> nn.Module:
    """Return the encoder without the pooling layer above its first token, which is not used here."""
    if getattr(encoder, "pooler", None) is not None:
        encoder.pooler = None
    module: nn.Module = encoder
    return module
