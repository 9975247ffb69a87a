"""Tables of systems with the paired bootstraps between them."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from discsum.experiments.report import aligned, paired_table
from discsum.metrics.rouge import METRICS, RougeScores
from discsum.metrics.significance import Comparison, paired_bootstrap
from discsum.signature import Signature


@dataclass(frozen=True)
class Difference:
    """Mean ROUGE of a model minus that of another one over the same documents, in percent, by metric."""

    model: str
    against: str
    rouge: dict[str, Comparison]

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON objects hold it."""
        found = {metric: asdict(one) | {"signature": str(one.signature)} for metric, one in self.rouge.items()}
        return {"model": self.model, "against": self.against, **found}


def all_differences(names: Sequence[str], scores: Sequence[RougeScores]) -> list[Difference]:
    """Return the differences of each model from every one before it."""
    found = []
    for place, (model, own) in enumerate(zip(names, scores, strict=True)):
        for against, other in zip(names[:place], scores, strict=False):
            values = {name: (100 * own.metric(name), 100 * other.metric(name)) for name in METRICS}
            found.append(Difference(model, against, {name: paired_bootstrap(*pair) for name, pair in values.items()}))
    return found


@dataclass(frozen=True)
class MeasuredTable(ABC):
    """Rows of several systems on the same documents, with the signature of their ROUGE and its differences."""

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
        paired = [
            (f"{one.model} - {one.against}", [(pair.difference, pair.p_value) for pair in one.rouge.values()])
            for one in self.differences
            if one.against == self.rows[0].model
        ]
        tables = [aligned(self.cells(), style), *([paired_table(paired, style)] if paired else [])]
        return f"{self.documents} documents\n" + "\n\n".join(tables) + f"\nsignature: {self.signature}"
