"""A decoder's times, for the models of `time_model`."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import torch
from transformers.modeling_outputs import BaseModelOutput

from discsum.abstractive.layout import SentenceLayout


@dataclass(frozen=True)
class Timed:
    """One sample: the output's length M, the input's N, and the mean seconds of a pass."""

    output: int
    input: int
    seconds: float

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as a dictionary."""
        return asdict(self)


def decoder_times(
    model: Any, outputs: Sequence[int], inputs: Sequence[int], repeats: int, sentence: int = 25
) -> Iterator[Timed]:
    """Yield the times of forward passes of the decoder, one document, encoder left out.

    Args:
        model: A sparse model; random states stand for the encoder's.
        outputs: Lengths of the output, M.
        inputs: Lengths of the input, N, with each of which each output is measured.
        repeats: Passes a sample, whose mean is taken; one more warms up.
        sentence: Tokens of a sentence.
    """
    generator = torch.Generator().manual_seed(0)
    for tokens in inputs:
        states = torch.randn(1, tokens, model.config.d_model, generator=generator).to(model.device, model.dtype)
        model.sparse.layout = SentenceLayout.from_owner((torch.arange(tokens) // sentence)[None]).to(model.device)
        for length in outputs:
            written = torch.randint(4, 50, (1, length), generator=generator).to(model.device)
            seconds = []
            for _ in range(repeats + 1):
                started = time.perf_counter()
                with torch.inference_mode():
                    model(encoder_outputs=BaseModelOutput(last_hidden_state=states), decoder_input_ids=written)
                    if model.device.type == "cuda":
                        torch.cuda.synchronize()
                seconds.append(time.perf_counter() - started)
            yield Timed(length, tokens, float(np.mean(seconds[1:])))
        model.sparse.layout = None
