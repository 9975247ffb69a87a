"""Time and memory of an encoder with and without compression, by text length (after Yap et al., figure 5)."""

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
from discsum.abstractive.sentence_layout import SentenceLayout
from discsum.devices import wait_for
from discsum.errors import InputError

# Tokens per sentence or discourse unit.
TOKENS_PER_UNIT = 25


@dataclass(frozen=True)
class EncoderSample:
    """Time of the fastest pass, and peak memory, of both encoders on one text.

    Attributes:
        tokens: Length of the text.
        seconds: Time of the compressed encoder.
        stock_seconds: Time with full attention.
        mebibytes: Peak memory of the compressed encoder beyond its weights, in MiB; None where it is unknown.
        stock_mebibytes: The same with full attention.
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
    """Yield time and memory of a model's encoder for each length, compressed and with full attention.

    Texts are random tokens. The model is decompressed afterwards.

    Raises:
        InputError: A model whose encoder is not compressed.
    """
    if not hasattr(model, "compressed"):
        raise InputError(
            "--mode encoder: expected a model with a compressed encoder, got one with its original attention"
        )
    found = [_measure(model, tokens, repeats) for tokens in lengths]
    decompress(model)
    for tokens, (seconds, mebibytes) in zip(lengths, found, strict=True):
        stock_seconds, stock_mebibytes = _measure(model, tokens, repeats)
        yield EncoderSample(tokens, seconds, stock_seconds, mebibytes, stock_mebibytes)


def _measure(model: Any, tokens: int, repeats: int) -> tuple[float, float | None]:
    """Return the seconds of the fastest of `repeats` passes after a warm-up pass, and peak memory in MiB."""
    generator = torch.Generator().manual_seed(tokens)
    ids = torch.randint(4, model.config.vocab_size, (1, tokens), generator=generator).to(model.device)
    layout = SentenceLayout.from_owner((torch.arange(tokens, device=model.device) // TOKENS_PER_UNIT)[None])
    settings = getattr(model, "compressed", None)
    call = nullcontext() if settings is None else settings.within(Call(layout))

    def run() -> None:
        model.get_encoder()(ids)
        wait_for(model.device)

    times = []
    with torch.inference_mode(), call:
        for _ in range(repeats + 1):
            started = time.perf_counter()
            run()
            times.append(time.perf_counter() - started)
        return min(times[1:]), peak_memory(run, model.device)
