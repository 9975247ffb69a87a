"""ROUGE as rouge-score measures it, per document and on average, each number with its signature."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from discsum.errors import InputError
from discsum.metrics.rouge_scorer import METRICS as METRICS
from discsum.metrics.rouge_scorer import scorer
from discsum.signature import Signature

MEASURES = {"f": "fmeasure", "p": "precision", "r": "recall"}


@dataclass(frozen=True, eq=False)
class RougeScores:
    """The scores of some documents.

    Attributes:
        values: `(documents, metrics)` in [0, 1], the metrics as in `METRICS`.
        signature: Everything that changes the numbers.
    """

    values: NDArray[np.float64]
    signature: Signature

    @property
    def mean(self) -> dict[str, float]:
        """The mean over the documents, for every metric."""
        return dict(zip(METRICS, self.values.mean(axis=0).tolist(), strict=True))

    def metric(self, name: str) -> NDArray[np.float64]:
        """Return the documents' scores in one metric `(documents,)`.

        Raises:
            InputError: An unknown metric; the message lists the choices.
        """
        if name not in METRICS:
            raise InputError(f"expected a metric out of {', '.join(METRICS)}, got {name!r}")
        return self.values[:, METRICS.index(name)]


def signature(measure: str = "f") -> Signature:
    """Return everything that changes the numbers."""
    _check_measure(measure)
    used = f"{scorer().name}-{scorer().version}"
    return Signature.of(metrics=METRICS, measure=measure, stem="porter", split="newline", refs="max", scorer=used)


def rouge(predictions: Sequence[str], references: Sequence[str | Sequence[str]], *, measure: str = "f") -> RougeScores:
    """Return ROUGE-1, ROUGE-2 and ROUGE-Lsum of every document.

    Texts have one sentence a line: ROUGE-Lsum (Lin 2004, section 3.2) matches line by line. Words are
    stemmed (Porter). Of several references each metric takes the one that gives the best F, the usual
    convention; no jackknifing.

    Args:
        predictions: The summaries.
        references: The reference of every summary, or a sequence of several.
        measure: `f`, `p` or `r`: F1, precision or recall.

    Raises:
        InputError: No document, another number of references than of summaries, or a document without any.
    """
    _check_measure(measure)
    if isinstance(predictions, str) or isinstance(references, str):
        raise InputError("expected a list of summaries and a list of references, got a single text; put it in a list")
    if not predictions or len(predictions) != len(references):
        raise InputError(f"expected a reference for each of {len(predictions)} summaries, got {len(references)}")
    measured_by = scorer()
    values = np.zeros((len(predictions), len(METRICS)))
    for row, (prediction, given) in enumerate(zip(predictions, references, strict=True)):
        texts = [given] if isinstance(given, str) else list(given)
        if not texts:
            raise InputError(f"document {row}: expected at least one reference, got none")
        scores = measured_by.best(texts, prediction)
        values[row] = [getattr(scores[metric], MEASURES[measure]) for metric in METRICS]
    return RougeScores(values, signature(measure))


def _check_measure(measure: str) -> None:
    if measure not in MEASURES:
        raise InputError(f"expected a measure out of {', '.join(MEASURES)}, got {measure!r}")
