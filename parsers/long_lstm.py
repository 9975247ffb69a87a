"""Run a bidirectional LSTM over a long sequence in pieces."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import torch
from torch import Tensor, nn

# Steps per piece. Gates take four times the memory of states, too much for all steps of a long document at once.
STEPS = 4096


def run_in_pieces(lstm: nn.LSTM, inputs: Tensor) -> Tensor:
    """Return `(steps, 2 * hidden)`: the last layer's states of a bidirectional LSTM.

    Up to `STEPS` steps are read at once. A longer sequence is read layer by layer and, in each direction, piece by
    piece; each piece starts from the final state of the one before.

    Args:
        lstm: A bidirectional LSTM that is `batch_first`.
        inputs: `(steps, size)`.
    """
    if len(inputs) <= STEPS:
        found: Tensor = lstm(inputs[None])[0][0]
        return found
    half, bounds = lstm.hidden_size, [slice(start, start + STEPS) for start in range(0, len(inputs), STEPS)]
    for layer in range(lstm.num_layers):
        if layer:
            inputs = nn.functional.dropout(inputs, lstm.dropout, lstm.training)
        forward = inputs.new_empty(len(inputs), half)
        for steps, found in zip(bounds, _states(lstm, f"l{layer}", (inputs[steps] for steps in bounds)), strict=True):
            forward[steps] = found
        # Without gradients, states overwrite the layer's inputs, each piece after it is read for the last time.
        reused = layer > 0 and not torch.is_grad_enabled()
        states = inputs if reused else inputs.new_empty(len(inputs), 2 * half)
        backwards = _states(lstm, f"l{layer}_reverse", (inputs[steps].flip(0) for steps in reversed(bounds)))
        for steps, found in zip(reversed(bounds), backwards, strict=True):
            states[steps] = torch.cat([forward[steps], found.flip(0)], dim=-1)
        inputs = states
    return inputs


def _states(lstm: nn.LSTM, name: str, pieces: Iterable[Tensor]) -> Iterator[Tensor]:
    """Yield the states `(steps, hidden)` of one layer in one direction, for pieces `(steps, size)` of its input."""
    weights = [getattr(lstm, f"{kind}_{name}") for kind in ("weight_ih", "weight_hh", "bias_ih", "bias_hh")]
    hidden = cell = weights[1].new_zeros(1, 1, lstm.hidden_size)
    for piece in pieces:
        found, hidden, cell = torch.lstm(piece[None], (hidden, cell), weights, True, 1, 0.0, lstm.training, False, True)
        yield found[0]
