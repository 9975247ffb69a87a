"""Time the decoder, to fit the models of `time_model`."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor
from transformers.modeling_outputs import BaseModelOutput

from discsum.abstractive.sparse.conversion import sentences
from discsum.abstractive.sparse.layout import SentenceLayout
from discsum.errors import InputError

# Timed passes, as in table 1: teacher forcing, teacher forcing with gradients, and generation token by token.
MODES = ("forward", "backward", "generate")


@dataclass(frozen=True)
class TimeSample:
    """One sample: output length M, input length N, both in tokens, and mean seconds of a pass."""

    output: int
    input: int
    seconds: float

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as a dictionary."""
        return asdict(self)


def decoder_times(
    model: Any, outputs: Sequence[int], inputs: Sequence[int], repeats: int, mode: str = "forward", sentence: int = 25
) -> Iterator[TimeSample]:
    """Yield times of passes of the decoder over one document, without the encoder.

    Args:
        model: A sparse model; random states stand for the encoder's.
        outputs: Lengths of the output, M.
        inputs: Lengths of the input, N; every N is combined with every M.
        repeats: Passes averaged for each sample, after one to warm up.
        mode: One of `MODES`.
        sentence: Tokens of a sentence.

    Raises:
        InputError: Another mode; or a model that selects sentences with another mode than `generate`, the only one in
            which selection saves time.
    """
    if mode not in MODES:
        raise InputError(f"--mode: expected one of {', '.join(MODES)}, got {mode!r}")
    if model.sparse.r is not None and mode != "generate":
        raise InputError(f"--mode: expected generate for a model that reads {model.sparse.r} sentences, got {mode}")
    generator = torch.Generator().manual_seed(0)
    for tokens in inputs:
        states = torch.randn(1, tokens, model.config.d_model, generator=generator).to(model.device, model.dtype)
        layout = SentenceLayout.from_owner((torch.arange(tokens) // sentence)[None])
        for length in outputs:
            written = torch.randint(4, 50, (1, length), generator=generator).to(model.device)
            seconds = []
            for _ in range(repeats + 1):
                started = time.perf_counter()
                _pass(model, BaseModelOutput(last_hidden_state=states), layout, written, mode)
                if model.device.type == "cuda":
                    torch.cuda.synchronize()
                seconds.append(time.perf_counter() - started)
            yield TimeSample(length, tokens, float(np.mean(seconds[1:])))


def _pass(model: Any, states: BaseModelOutput, layout: SentenceLayout, written: Tensor, mode: str) -> None:
    length = written.shape[1]
    if mode == "generate":
        with torch.inference_mode():
            options = {"min_new_tokens": length, "max_new_tokens": length, "num_beams": 1, "do_sample": False}
            mask = torch.ones(layout.owner.shape, dtype=torch.long, device=model.device)
            model.generate(encoder_outputs=states, attention_mask=mask, layout=layout, **options)
        return
    with torch.set_grad_enabled(mode == "backward"), sentences(model, layout):
        loss = model(encoder_outputs=states, labels=written).loss
        if mode == "backward":
            loss.backward()
            model.zero_grad()
