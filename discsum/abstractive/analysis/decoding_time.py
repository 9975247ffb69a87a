"""Decoding time as a function of input and output length (Manakul and Gales 2021, Eq 1 and appendix B)."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray
from scipy import stats
from torch import Tensor
from transformers.modeling_outputs import BaseModelOutput

from discsum.abstractive.sentence_layout import SentenceLayout
from discsum.devices import wait_for
from discsum.errors import InputError

# Timed passes, as in table 1: teacher forcing, teacher forcing with gradients, and generation token by token.
PASSES = ("forward", "backward", "generate")
# Tokens per sentence.
TOKENS_PER_SENTENCE = 25


@dataclass(frozen=True)
class TimeSample:
    """One sample: output length M, input length N, both in tokens, and mean seconds of a pass."""

    output: int
    input: int
    seconds: float


@dataclass(frozen=True)
class TimeModel:
    """A linear model of decoding time, fitted by least squares.

    Attributes:
        terms: Names of its terms.
        coefficients: `(terms,)` seconds per unit of a term.
        low: `(terms,)` lower ends of the coefficients' 95% confidence intervals.
        high: `(terms,)` upper ends.
        r_squared: Share of variance explained.
    """

    terms: tuple[str, ...]
    coefficients: NDArray[np.float64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    r_squared: float

    @property
    def relative(self) -> dict[str, float]:
        """Each coefficient divided by that of the constant term, as the paper prints them."""
        return dict(zip(self.terms, (self.coefficients / self.coefficients[0]).tolist(), strict=True))

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as a JSON object."""
        rows = zip(self.terms, self.coefficients.tolist(), self.low.tolist(), self.high.tolist(), strict=True)
        return {
            "r_squared": self.r_squared,
            "terms": [{"term": term, "seconds": value, "low": low, "high": high} for term, value, low, high in rows],
            "relative": self.relative,
        }


def fit_time(outputs: ArrayLike, inputs: ArrayLike, seconds: ArrayLike) -> TimeModel:
    """Fit `time = c1 + c2 M + c3 N + c4 MN + c5 M^2 + c6 N^2` to samples `(samples,)` of M and N (appendix B).

    With a single input length N, the model is `time = c1 + c2 M + c3 M^2` (Eq 1).

    Raises:
        InputError: Too few different lengths, or not one time for each sample.
    """
    m, n = np.broadcast_arrays(np.asarray(outputs, dtype=np.float64), np.asarray(inputs, dtype=np.float64))
    columns = {"1": np.ones_like(m), "M": m, "N": n, "MN": m * n, "M^2": m**2, "N^2": n**2}
    terms = tuple(columns) if len(np.unique(n)) > 1 else ("1", "M", "M^2")
    values = np.stack([columns[term] for term in terms], axis=1)
    # Columns differ by many orders of magnitude; scaling them keeps the least-squares fit accurate.
    scale = np.abs(values).max(axis=0)
    scaled, times = values / scale, np.asarray(seconds, dtype=np.float64)
    freedom, rank = len(m) - len(terms), np.linalg.matrix_rank(scaled)
    if times.shape != m.shape or rank < len(terms) or freedom < 1:
        raise InputError(
            f"expected times for more than {len(terms)} different lengths to fit the terms {', '.join(terms)}, "
            f"got {len(m)} samples of rank {rank} with {times.size} times"
        )
    found, _, _, _ = np.linalg.lstsq(scaled, times, rcond=None)
    rest = times - scaled @ found
    covariance = np.linalg.inv(scaled.T @ scaled) * float(rest @ rest) / freedom
    margin = float(stats.t.ppf(0.975, freedom)) * np.sqrt(np.diag(covariance))
    spread = times - times.mean()
    explained = 1.0 - float(rest @ rest) / max(float(spread @ spread), 1e-300)
    return TimeModel(terms, found / scale, (found - margin) / scale, (found + margin) / scale, explained)


def decoder_times(
    model: Any, outputs: Sequence[int], inputs: Sequence[int], repeats: int, mode: str = "forward"
) -> Iterator[TimeSample]:
    """Yield decoding times of a sparse model on one document, for every pair of an input and an output length.

    Encoder states are random; sentences have `TOKENS_PER_SENTENCE` tokens and a uniform discourse prior. A model that
    selects sentences does so even where reading all would be faster. Each sample is the mean of `repeats` passes after
    a warm-up pass.

    Raises:
        InputError: An unknown mode, or any mode but `generate` for a model that selects sentences, because selection
            saves time in that mode only.
    """
    if mode not in PASSES:
        raise InputError(f"--mode: expected one of {', '.join(PASSES)}, got {mode!r}")
    if model.sparse.r is not None and mode != "generate":
        raise InputError(f"--mode: expected generate for a model that reads {model.sparse.r} sentences, got {mode}")
    generator = torch.Generator().manual_seed(0)
    for tokens in inputs:
        states = torch.randn(1, tokens, model.config.d_model, generator=generator).to(model.device, model.dtype)
        layout = SentenceLayout.from_owner((torch.arange(tokens) // TOKENS_PER_SENTENCE)[None])
        layout = replace(layout, prior=layout.mask / layout.mask.sum())
        for length in outputs:
            written = torch.randint(4, 50, (1, length), generator=generator).to(model.device)
            seconds = []
            # Closed before the sample is yielded, so that it changes nothing for the caller.
            with model.sparse.using(dense_where_faster=False):
                for _ in range(repeats + 1):
                    started = time.perf_counter()
                    _pass(model, BaseModelOutput(last_hidden_state=states), layout, written, mode)
                    wait_for(model.device)
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
    with torch.set_grad_enabled(mode == "backward"):
        loss = model(encoder_outputs=states, labels=written, layout=layout).loss
        if mode == "backward":
            loss.backward()
            model.zero_grad()
