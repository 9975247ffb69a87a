"""Convolution of token sequences before their projection to keys and values (Yap et al., section 3.3.1 and Eq 3)."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from discsum.abstractive.compressed.config import CompressionConfig


class SequenceConvolution(nn.Conv1d):
    """A convolution that shortens a sequence by a factor of its kernel; it starts as the mean of a window.

    With a kernel of 1 it starts as the identity.
    """

    def __init__(self, width: int, kernel: int, groups: int, *, pool: bool) -> None:
        """Build it with `width` channels; with `pool` its stride is 1, and max pooling shortens the sequence later."""
        super().__init__(width, width, kernel, stride=1 if pool else kernel, groups=groups)
        assert self.bias is not None
        self.pool = pool
        size = width // groups
        with torch.no_grad():
            taps = torch.eye(size).repeat(groups, 1)[:, :, None] / kernel
            self.weight.copy_(taps.expand_as(self.weight))
            self.bias.zero_()

    def forward(self, states: Tensor) -> Tensor:
        """Return `(rows, windows, width)` from states `(rows, tokens, width)`, which must be 0 at padding.

        There are `ceil(tokens / kernel)` windows, and the last may reach beyond the last token. With `pool` there is
        one window for each token.
        """
        kernel, tokens = self.kernel_size[0], states.shape[1]
        if self.pool:
            sides = ((kernel - 1) // 2, kernel // 2)
            return super().forward(nn.functional.pad(states.transpose(1, 2), sides)).transpose(1, 2)
        padded = nn.functional.pad(states, (0, 0, 0, -tokens % kernel))
        if self.groups > 1:
            return super().forward(padded.transpose(1, 2)).transpose(1, 2)
        # Windows do not overlap, so this is one matrix product, which is faster than the convolution.
        windows = padded.reshape(len(states), -1, kernel * states.shape[2])
        return nn.functional.linear(windows, self.weight.transpose(1, 2).flatten(1), self.bias)


class KeyValueConvolution(nn.Module):
    """The two convolutions of one attention: one of the states for keys, one of the states for values."""

    def __init__(self, width: int, config: CompressionConfig) -> None:
        """Build both for states of `width`."""
        super().__init__()
        pool = config.variant == "conv_pool"
        self.kernel, self.pool = config.kernel, pool
        self.key, self.value = (
            SequenceConvolution(width, config.kernel, config.groups, pool=pool) for _ in ("key", "value")
        )

    def forward(self, states: Tensor, inside: Tensor | None) -> tuple[Tensor, Tensor, Tensor | None]:
        """Return states for keys and for values `(rows, windows, width)`, and a mask `(rows, windows)` of windows.

        A window exists if any of its tokens does. The mask is None if there is no padding.

        Args:
            states: `(rows, tokens, width)`.
            inside: `(rows, tokens)`, true where there is a token; None if there is no padding.
        """
        if inside is None:
            return self._windows(self.key(states), None), self._windows(self.value(states), None), None
        states = states.masked_fill(~inside[..., None], 0.0)
        windows = torch.unflatten(nn.functional.pad(inside, (0, -inside.shape[1] % self.kernel)), 1, (-1, self.kernel))
        keys, values = (self._windows(one(states), inside) for one in (self.key, self.value))
        return keys, values, windows.any(dim=-1)

    def _windows(self, convolved: Tensor, inside: Tensor | None) -> Tensor:
        """Return `(rows, windows, width)`, pooled if the variant pools."""
        if not self.pool:
            return convolved
        lowest = torch.finfo(convolved.dtype).min
        if inside is not None:
            convolved = convolved.masked_fill(~inside[..., None], lowest)
        padded = nn.functional.pad(convolved, (0, 0, 0, -convolved.shape[1] % self.kernel), value=lowest)
        pooled = torch.unflatten(padded, 1, (-1, self.kernel)).amax(dim=2)
        # Windows without a token are masked later, but must be finite.
        return pooled if inside is None else pooled.masked_fill(pooled == lowest, 0.0)
