"""Decoding time as a function of input and output length (Manakul and Gales 2021, Eq 1 and appendix B)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import stats

from discsum.errors import InputError

# Terms of the models: functions of output length M and input length N.
OUTPUT_TERMS = ("1", "M", "M^2")
BOTH_TERMS = ("1", "M", "N", "MN", "M^2", "N^2")


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


def check_lengths(outputs: Sequence[int], inputs: Sequence[int]) -> None:
    """Check that the lengths suffice to fit a model.

    Raises:
        InputError: They do not; the message says what is missing.
    """
    if len(set(outputs)) < 3 or len(set(inputs)) == 2 or len(set(outputs)) * len(set(inputs)) < 4:
        raise InputError(
            "expected at least four --length M with one --tokens N, or three and more of each, "
            f"got {len(set(outputs))} and {len(set(inputs))}"
        )


def fit_output_time(lengths: ArrayLike, seconds: ArrayLike) -> TimeModel:
    """Return `time = c1 + c2 M + c3 M^2` for outputs of `lengths` M `(samples,)` and one input length (Eq 1)."""
    m = np.asarray(lengths, dtype=np.float64)
    return _fit(OUTPUT_TERMS, np.stack([np.ones_like(m), m, m**2], axis=1), seconds)


def fit_time(outputs: ArrayLike, inputs: ArrayLike, seconds: ArrayLike) -> TimeModel:
    """Return `time = c1 + c2 M + c3 N + c4 MN + c5 M^2 + c6 N^2` for samples `(samples,)` of M and N (appendix B)."""
    m, n = np.asarray(outputs, dtype=np.float64), np.asarray(inputs, dtype=np.float64)
    return _fit(BOTH_TERMS, np.stack([np.ones_like(m), m, n, m * n, m**2, n**2], axis=1), seconds)


def _fit(terms: tuple[str, ...], columns: NDArray[np.float64], seconds: ArrayLike) -> TimeModel:
    times = np.asarray(seconds, dtype=np.float64)
    samples, count = columns.shape
    # Columns differ by many orders of magnitude: scaled, the least squares keep their digits.
    scale = np.abs(columns).max(axis=0)
    scaled = columns / scale
    if times.shape != (samples,) or np.linalg.matrix_rank(scaled) < count or samples <= count:
        raise InputError(
            f"expected times of more than {count} different lengths for the terms {', '.join(terms)}, got {samples} "
            f"samples of rank {np.linalg.matrix_rank(scaled)} with {times.size} times"
        )
    found, _, _, _ = np.linalg.lstsq(scaled, times, rcond=None)
    rest = times - scaled @ found
    freedom = samples - count
    covariance = np.linalg.inv(scaled.T @ scaled) * float(rest @ rest) / freedom
    margin = float(stats.t.ppf(0.975, freedom)) * np.sqrt(np.diag(covariance))
    spread = times - times.mean()
    explained = 1.0 - float(rest @ rest) / max(float(spread @ spread), 1e-300)
    return TimeModel(terms, found / scale, (found - margin) / scale, (found + margin) / scale, explained)
