"""Time and memory of a compressed encoder by the length of the text, beside its own (Yap et al., figure 5)."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any

import torch

from discsum.abstractive.analysis.peak_memory import peak_memory
from discsum.abstractive.compressed.calls import Call
from discsum.abstractive.compressed.conversion import decompress
from discsum.abstractive.layout import SentenceLayout
from discsum.errors import InputError

# Tokens of a sentence, or of a discourse unit.
UNIT = 25


@dataclass(frozen=True)
class EncoderSample:
    """The fastest pass of both encoders over one text.

    Attributes:
        tokens: Length of the text.
        seconds: Time of the compressed encoder.
        stock_seconds: Time with attention of all tokens to all.
        mebibytes: Memory that the compressed encoder took beyond its weights; none where that is not known.
        stock_mebibytes: The same of attention of all tokens to all.
    """

    tokens: int
    seconds: float
    stock_seconds: float
    mebibytes: float | None
    stock_mebibytes: float | None

    @property
    def speed_up(self) -> float:
        """How many times faster the compressed encoder is."""
        return self.stock_seconds / self.seconds


def encoder_times(model: Any, lengths: Sequence[int], repeats: int) -> Iterator[EncoderSample]:
    """Yield the times of a compressed model's encoder, and then of the same with its own attention, for each length.

    Texts are random tokens. Afterwards the model is decompressed.

    Raises:
        InputError: A model whose encoder is not compressed.
    """
    if not hasattr(model, "compressed"):
        raise InputError("--lengths: expected a model whose encoder is compressed, got one with its own attention")
    found = [_measured(model, tokens, repeats) for tokens in lengths]
    decompress(model)
    for tokens, (seconds, mebibytes) in zip(lengths, found, strict=True):
        stock_seconds, stock_mebibytes = _measured(model, tokens, repeats)
        yield EncoderSample(tokens, seconds, stock_seconds, mebibytes, stock_mebibytes)


def _measured(model: Any, tokens: int, repeats: int) -> tuple[float, float | None]:
    """Return the seconds of the fastest of some passes over a text, after one to warm up, and its memory in MiB."""
    generator = torch.Generator().manual_seed(tokens)
    ids = torch.randint(4, model.config.vocab_size, (1, tokens), generator=generator).to(model.device)
    layout = SentenceLayout.from_owner((torch.arange(tokens, device=model.device) // UNIT)[None])
    settings = getattr(model, "compressed", None)
    call = nullcontext() if settings is None else settings.within(Call(layout))

    def run() -> None:
        model.get_encoder()(ids)
        if model.device.type == "cuda":
            torch.cuda.synchronize()

    times = []
    with torch.inference_mode(), call:
        for _ in range(repeats + 1):
            started = time.perf_counter()
            run()
            times.append(time.perf_counter() - started)
        return min(times[1:]), peak_memory(run, model.device)
