"""The summary of a document: its units, their places in the document, and its text."""

from __future__ import annotations

import operator
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from itertools import groupby
from math import isfinite
from textwrap import shorten
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from discsum.batches import check_kind
from discsum.document import Document
from discsum.edu_text import EduText, single_line_of
from discsum.errors import InputError, warn_caller
from discsum.format_registry import FORMATS


@dataclass(frozen=True, slots=True)
class Selected:
    """One unit of a summary: its index among the units, its half-open span in the text, score and text."""

    index: int
    start: int
    end: int
    score: float
    text: str


@dataclass(frozen=True, slots=True)
class Queried:
    """The basis of a summary for a query: the query, and each unit's model score and similarity to the query."""

    query: str
    model_scores: tuple[float, ...]
    query_scores: tuple[float, ...]


@dataclass(frozen=True, repr=False)
class Summary:
    """The summary of one document.

    Attributes:
        document: What was summarized.
        unit: `sentence` or `edu`.
        model: Name of the scorer.
        scores: A score for every unit, in order.
        selected: The units of the summary, in document order.
        tidy: Whether `text` has a sentence for the EDUs of each sentence, if the units are EDUs.
        queried: With a query, the scores from which `scores` are combined.
        doubts: Reasons to doubt the choice of units, such as a query without a word in the text.
    """

    document: Document
    unit: str
    model: str
    scores: tuple[float, ...]
    selected: tuple[Selected, ...]
    tidy: bool = False
    queried: Queried | None = None
    doubts: tuple[str, ...] = ()

    @classmethod
    def from_indices(
        cls,
        document: Document,
        unit: str,
        model: str,
        scores: ArrayLike,
        indices: Iterable[int],
        tidy: bool = False,
    ) -> Summary:
        """Return the summary of these units of the document.

        Raises:
            TypeError: Indices that are not whole numbers.
            InputError: Scores that do not fit the units, or indices that are out of range.
        """
        spans = document.units(unit)
        values = tuple(np.asarray(scores, dtype=np.float64).ravel().tolist())
        indices = [*indices]
        if any(isinstance(index, bool) for index in indices):
            raise TypeError("indices: expected the indices of units, got truth values; pass np.flatnonzero of them")
        # NumPy's numbers cannot be written as JSON.
        chosen = sorted({operator.index(index) for index in indices})
        if len(values) != len(spans):
            raise InputError(f"expected a score for each of {len(spans)} units, got {len(values)}")
        if chosen and not 0 <= chosen[0] <= chosen[-1] < len(spans):
            raise InputError(f"expected units in 0 to {len(spans) - 1}, got {chosen[0]} to {chosen[-1]}")
        selected = tuple(
            Selected(i, spans[i].start, spans[i].end, values[i], document.text[spans[i].start : spans[i].end])
            for i in chosen
        )
        return cls(document, unit, model, values, selected, tidy)

    @classmethod
    def from_json(cls, data: Mapping[str, Any], document: Document) -> Summary:
        """Return the summary of an object as `to_json` returns it, and of the document, which the object lacks.

        Scores that are None become NaN.

        Raises:
            TypeError: Something else than an object and a document.
            InputError: An object without the fields of an extractive summary, or one of another document.
        """
        check_kind("data", data, (Mapping,), "; read it with json.loads")
        check_kind("document", document, (Document,))
        if missing := [name for name in ("summary", "unit", "model", "selected", "scores") if name not in data]:
            raise InputError(f"expected an object of discsum extract --json, got one without {', '.join(missing)}")
        document.units(data["unit"])
        remedy = f"pass the document {data.get('id')!r} that was summarized"
        queried = None
        try:
            if "query" in data:
                both = (data[name] for name in ("model_scores", "query_scores"))
                queried = Queried(data["query"], *(tuple(np.asarray(own, np.float64).tolist()) for own in both))
            indices = [unit["index"] for unit in data["selected"]]
            found = cls.from_indices(document, data["unit"], data["model"], data["scores"], indices)
        except InputError as error:
            raise InputError(f"{document.label}: {error}; {remedy}") from error
        except (LookupError, TypeError, ValueError) as error:
            raise InputError(f"expected an object of discsum extract --json, got other fields: {error}") from error
        if found.to_json()["selected"] != data["selected"]:
            got = [unit.get("text") for unit in data["selected"]]
            raise InputError(f"selected: expected units of {document.label}, got {got!r:.80}; {remedy}")
        doubts = tuple(warning for warning in data.get("warnings") or () if warning not in document.warnings)
        tidy = found.unit == "edu" and found.text != data["summary"]
        return replace(found, tidy=tidy, queried=queried, doubts=doubts)

    @cached_property
    def lines(self) -> tuple[str, ...]:
        """One sentence each, as ROUGE-Lsum expects, without line breaks; EDUs of a sentence are joined by a space.

        The label of a turn, "Anna:", is on the line of the turn's first selected sentence.
        """
        sentences = self.document.edu_to_sentence if self.unit == "edu" else np.arange(len(self.scores))
        found, last = list[str](), None
        for _, units in groupby(self.selected, key=lambda unit: int(sentences[unit.index])):
            own = [*units]
            line = " ".join(single_line_of(unit.text) for unit in own)
            if last is not None and self._turns[own[0].index] == last.index:
                found[-1] += f" {line}"
            else:
                found.append(line)
            last = own[-1]
        return tuple(found)

    @cached_property
    def text(self) -> str:
        """The summary as one text.

        Sentences are joined by a space. EDUs that follow each other in the document keep the text between them
        (a line break becomes a space); other EDUs are joined by a space. With `tidy` every such run
        begins with a capital and ends with a full stop, and runs end with their sentence, which may be a headline. The
        parts of an interrupted clause are in one run, and so are later EDUs that continue their sentence.
        """
        if self.unit != "edu":
            return " ".join(self.lines)
        return str(EduText(self.document, self.selected, frozenset(self._turns), tidy=self.tidy))

    @property
    def warnings(self) -> tuple[str, ...]:
        """Warnings about the document, and about the choice of units."""
        return (*self.document.warnings, *self.doubts)

    def doubted(self, doubt: str) -> Summary:
        """Return the summary with one more reason to doubt it, and warn of it; unchanged if the reason is empty."""
        if not doubt:
            return self
        warn_caller(f"{self.document.label}: {doubt}")
        return replace(self, doubts=(*self.doubts, doubt))

    def __str__(self) -> str:
        """Return the text."""
        return self.text

    def __repr__(self) -> str:
        """Return one line with the beginning of the text."""
        chosen = f"{len(self.selected)} of {len(self.scores)} {self.unit}s"
        begins = shorten(self.text, 60, placeholder="…")
        return f"Summary(id={self.document.id!r}, model={self.model!r}, {chosen}: {begins!r})"

    def _repr_html_(self) -> str:
        return FORMATS["html"].preview(self)

    def to_json(self) -> dict[str, Any]:
        """Return the object of `discsum extract --json`; infinite scores, which JSON does not have, become None."""
        data: dict[str, Any] = {
            "id": self.document.id,
            "summary": self.text,
            "lines": list(self.lines),
            "unit": self.unit,
            "model": self.model,
            "selected": [asdict(unit) | {"score": _finite(unit.score)} for unit in self.selected],
            "scores": [_finite(score) for score in self.scores],
        }
        if self.queried is not None:
            data |= {
                "query": self.queried.query,
                "model_scores": [_finite(score) for score in self.queried.model_scores],
                "query_scores": list(self.queried.query_scores),
            }
        return data | ({"warnings": list(self.warnings)} if self.warnings else {})

    @cached_property
    def _turns(self) -> list[int]:
        """For each unit the index of the unit that is its turn's label, as in `Layout.labels`."""
        units = self.document.units(self.unit)
        return self.document.text_layout.labels([(span.start, span.end) for span in units])


def _finite(score: float) -> float | None:
    return score if isfinite(score) else None
