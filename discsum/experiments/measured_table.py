"""Tables of systems with the paired bootstraps between them."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discsum.experiments.report import aligned, paired_table
from discsum.metrics.rouge import METRICS, RougeScores
from discsum.metrics.significance import Comparison, paired_bootstrap
from discsum.signature import Signature

# Per-document figures of a system, `(documents,)` by name: ROUGE in percent, and for a model that writes `NATS`.
Figures = Mapping[str, NDArray[np.float64]]
# Mean negative log-probability of a token of the document's reference, whose exponential is its perplexity.
NATS = "nats"


@dataclass(frozen=True)
class Difference:
    """Mean of a model's figures minus those of another one over the same documents, by the figures that both have."""

    model: str
    against: str
    figures: dict[str, Comparison]

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON objects hold it."""
        found = {name: asdict(one) | {"signature": str(one.signature)} for name, one in self.figures.items()}
        return {"model": self.model, "against": self.against, **found}

    def printed(self, names: Sequence[str]) -> tuple[str, list[tuple[float, float] | None]]:
        """Return the pair's name, and difference and p-value of each named figure; none where one has it not."""
        found = map(self.figures.get, names)
        return f"{self.model} - {self.against}", [(one.difference, one.p_value) if one else None for one in found]


def figures_of(scores: RougeScores, nats: NDArray[np.float64] | None) -> Figures:
    """Return the figures of a system whose summaries have these scores; without `nats` it writes none."""
    percent = {metric: 100 * scores.metric(metric) for metric in METRICS}
    return percent if nats is None else {NATS: nats, **percent}


def all_differences(names: Sequence[str], figures: Sequence[Figures]) -> list[Difference]:
    """Return the differences of each model from every one before it."""
    found = []
    for place, (model, own) in enumerate(zip(names, figures, strict=True)):
        for against, other in zip(names[:place], figures, strict=False):
            both = {name: paired_bootstrap(own[name], other[name]) for name in own if name in other}
            found.append(Difference(model, against, both))
    return found


@dataclass(frozen=True)
class MeasuredTable(ABC):
    """Rows of several systems on the same documents, with the signature of their ROUGE and their differences."""

    documents: int
    rows: Sequence[Any]
    signature: Signature
    differences: Sequence[Difference]

    @abstractmethod
    def cells(self) -> list[list[str]]:
        """Return what is printed of the rows, below a header."""

    def report(self, style: str) -> str:
        """Return it as `table`, `markdown` or `json`; all but `json` have the differences from the first row alone."""
        if style == "json":
            content: dict[str, Any] = {"documents": self.documents, "signature": str(self.signature)}
            content["rows"] = [asdict(row) for row in self.rows]
            content["differences"] = [one.to_dict() for one in self.differences]
            return json.dumps(content, indent=1)
        first = [one for one in self.differences if one.against == self.rows[0].model]
        names = [NATS, *METRICS] if any(NATS in one.figures for one in first) else METRICS
        paired = [one.printed(names) for one in first]
        tables = [aligned(self.cells(), style), *([paired_table(paired, style, names)] if paired else [])]
        return f"{self.documents} documents\n" + "\n\n".join(tables) + f"\nsignature: {self.signature}"
