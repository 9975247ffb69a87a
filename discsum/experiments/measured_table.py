"""Tables of systems with paired bootstraps between the systems."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discsum.data.pairs import Pair
from discsum.errors import number_of
from discsum.experiments.report import aligned, few_documents, paired_table, signature_lines, spaced
from discsum.experiments.teacher_forcing import Likelihood
from discsum.metrics.rouge import METRICS, RougeScores
from discsum.metrics.significance import Comparison, paired_bootstrap
from discsum.signature import Signature

# Name of the difference between two models' mean negative log-probabilities per reference token, in nats. It is the
# logarithm of the ratio of their perplexities.
NATS = "nats"
# Decimal places.
DIGITS = {NATS: 4}


@dataclass(frozen=True)
class Figures:
    """Figures of a system for each document.

    Attributes:
        percent: ROUGE by metric, `(documents,)` in percent.
        likelihood: Likelihood of the references; None for a system without token probabilities.
        vocabulary: Digest of the vocabulary of their tokens.
    """

    percent: Mapping[str, NDArray[np.float64]]
    likelihood: Likelihood | None = None
    vocabulary: str = ""

    def compared(self, other: Figures) -> dict[str, Comparison]:
        """Return the differences of all figures that both systems have; nats only if both have the same tokens."""
        found = {name: paired_bootstrap(mine, other.percent[name]) for name, mine in self.percent.items()}
        own, others = self.likelihood, other.likelihood
        if own is None or others is None or self.vocabulary != other.vocabulary:
            return found
        if not np.array_equal(own.tokens, others.tokens):
            return found
        return {NATS: paired_bootstrap(own.nats, others.nats, weights=own.tokens), **found}


@dataclass(frozen=True)
class Difference:
    """Mean differences `model - against` over the same documents, for each figure that both have."""

    model: str
    against: str
    figures: dict[str, Comparison]

    def to_dict(self) -> dict[str, Any]:
        """Return the difference as a JSON object."""
        found = {name: one.to_dict() | {"signature": str(one.signature)} for name, one in self.figures.items()}
        return {"model": self.model, "against": self.against, **found}

    def printed(self, names: Sequence[str]) -> tuple[str, list[tuple[float, float] | None]]:
        """Return the pair's name, and the difference and p-value of each named figure; None for a missing figure."""
        found = map(self.figures.get, names)
        return f"{self.model} minus {self.against}", [(one.difference, one.p_value) if one else None for one in found]


def percent_of(scores: RougeScores) -> dict[str, NDArray[np.float64]]:
    """Return ROUGE by metric, `(documents,)` in percent."""
    return {metric: 100 * scores.metric(metric) for metric in METRICS}


def summaries_of(
    model: str, pairs: Sequence[Pair], written: Sequence[str], scores: RougeScores, figures: Figures
) -> list[dict[str, Any]]:
    """Return a model's summary of each document with its ROUGE from 0 to 1, as JSON objects.

    A model also has its nats, its tokens and the digest of its vocabulary.
    """
    found: list[dict[str, Any]] = [
        {"id": pair.id, "model": model, **dict(zip(METRICS, values, strict=True)), "summary": text}
        for pair, text, values in zip(pairs, written, scores.values.tolist(), strict=True)
    ]
    if (learned := figures.likelihood) is not None:
        for one, nats, tokens in zip(found, learned.nats.tolist(), learned.tokens.tolist(), strict=True):
            one |= {NATS: nats, "tokens": tokens, "vocabulary": figures.vocabulary}
    return found


def all_differences(names: Sequence[str], figures: Sequence[Figures]) -> list[Difference]:
    """Return the differences between each model and every model before it."""
    found = []
    for place, (model, own) in enumerate(zip(names, figures, strict=True)):
        for against, other in zip(names[:place], figures, strict=False):
            found.append(Difference(model, against, own.compared(other)))
    return found


@dataclass(frozen=True)
class MeasuredTable(ABC):
    """Rows of several systems on the same documents.

    Attributes:
        documents: Number of documents.
        rows: One row per system.
        signatures: The settings that the figures of each row depend on.
        differences: Differences between each system and every system before it.
        summaries: Each system's summary of each document, as `summaries_of` returns them.
    """

    documents: int
    rows: Sequence[Any]
    signatures: Sequence[Signature]
    differences: Sequence[Difference]
    summaries: Sequence[dict[str, Any]]

    @abstractmethod
    def cells(self) -> list[list[str]]:
        """Return the printed cells: a header and the rows."""

    def report(self, style: str, data: str = "") -> str:
        """Return the table as `table`, `markdown` or `json`.

        Only `json` has the name of the `data`, and the differences from all rows; the other two styles show those from
        the first row.
        """
        if style == "json":
            content: dict[str, Any] = {"data": data, "documents": self.documents, "signature": str(self.signatures[0])}
            content["warnings"] = few_documents(self.documents)
            both = zip(self.rows, self.signatures, strict=True)
            content["models"] = [asdict(row) | {"signature": str(own)} for row, own in both]
            content["differences"] = [one.to_dict() for one in self.differences]
            return json.dumps(content, indent=1)
        first = [one for one in self.differences if one.against == self.rows[0].model]
        names = [NATS, *METRICS] if any(NATS in one.figures for one in first) else METRICS
        paired = [one.printed(names) for one in first]
        tables = [aligned(self.cells(), style), *([paired_table(paired, style, names, DIGITS)] if paired else [])]
        doubts = spaced(few_documents(self.documents)) if paired else []
        named = [(row.model, own) for row, own in zip(self.rows, self.signatures, strict=True)]
        signatures = signature_lines(named, style)
        return "\n".join([number_of(self.documents, "document"), "\n\n".join(tables), *doubts, "", *signatures])
