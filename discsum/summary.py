"""The summary of a document: its units, their places in the document, and its text."""

from __future__ import annotations

import operator
import re
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from itertools import chain, groupby, pairwise
from math import isfinite
from textwrap import shorten
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from discsum.dependency import same_unit_groups
from discsum.document import Document
from discsum.errors import InputError, warn_caller
from discsum.format_registry import FORMATS
from discsum.layout_patterns import QUOTE
from discsum.tidying import closed_before, completed, tidied
from discsum.tree import is_attribution
from discsum.writing import BLANK_LINE, single_line

# The beginning of a subject.
_NOUN = re.compile(
    r"(?:the|an?|he|she|it|they|we|you|th(?:is|ese|ose)|his|her|their|its|our|my|your|there|no|some|many)\b|[A-Z]"
)
# Before a reported clause: "that the economy is weak", but not "that is weak", "that man is old".
_THAT = re.compile(
    rf"\Athat\s+(?={_NOUN.pattern}"
    r"|(?:most|all|both|every|each|any|several|(?:no|every|some|any)(?:body|one|thing)|if|when|although)\b)"
)
# Characters around a run in which a quotation may begin or end.
_REACH = 2000


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
        tidy: Whether `text` capitalises every run of EDUs and ends it with a full stop, if the units are EDUs.
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

    @cached_property
    def lines(self) -> tuple[str, ...]:
        """One sentence each, as ROUGE-Lsum expects, without line breaks; EDUs of a sentence are joined by a space.

        The label of a turn, "Anna:", is on the line of the turn's first selected sentence.
        """
        sentences = self.document.edu_to_sentence if self.unit == "edu" else np.arange(len(self.scores))
        found, last = list[str](), None
        for _, units in groupby(self.selected, key=lambda unit: int(sentences[unit.index])):
            own = [*units]
            line = " ".join(_single_line(unit.text) for unit in own)
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
        parts of an interrupted clause are in one run.
        """
        if self.unit != "edu":
            return " ".join(self.lines)
        return " ".join(self._words(run) for run in self._runs())

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

    @cached_property
    def _labels(self) -> frozenset[int]:
        """The units that are labels of turns: speakers and times."""
        return frozenset(self._turns)

    @cached_property
    def _reported(self) -> frozenset[int]:
        """The EDUs that begin what an attribution before them reports."""
        nodes = self.document.tree.nodes if self.document.tree is not None else ()
        return frozenset(node.split + 1 for node in nodes if node.nuclearity == "SN" and is_attribution(node.relation))

    @cached_property
    def _clauses(self) -> list[tuple[int, int]]:
        """The clause of each EDU: its sentence, and with `tidy` a number that the parts of a divided clause share."""
        sentences, tree = self.document.edu_to_sentence, self.document.tree
        groups = same_unit_groups(tree) if self.tidy and tree is not None else np.arange(len(sentences))
        return [*zip(sentences.tolist(), groups.tolist(), strict=True)]

    def _runs(self) -> list[list[Selected]]:
        """Return the longest runs of selected EDUs that follow each other.

        With `tidy`, a run stays within one sentence, unless the EDU before is a turn's label or ends with a colon. It
        has all parts of a clause that other EDUs of the sentence interrupt, with the selected EDUs between them.
        """
        sentences, clauses = self.document.edu_to_sentence, self._clauses
        runs: list[list[Selected]] = []
        # The run of each clause in each sentence.
        places: dict[tuple[int, int], int] = {}
        for unit in self.selected:
            # The run that the unit continues: the last one, or the one in which its clause begins in the same sentence.
            first, last = len(runs), runs[-1][-1] if runs else None
            if last is not None and last.index == unit.index - 1:
                label = self.tidy and (last.index in self._labels or last.text.rstrip().endswith(":"))
                if not self.tidy or label or sentences[last.index] == sentences[unit.index]:
                    first -= 1
            if self.tidy:
                first = min(first, places.get(clauses[unit.index], first))
            # In place: copying a run for each of its units would take quadratic time.
            if first == len(runs):
                runs.append([])
            joined = [*chain.from_iterable(runs[first + 1 :]), unit]
            runs[first] += joined
            places |= {clauses[one.index]: first for one in joined}
            del runs[first + 1 :]
        return runs

    def _words(self, run: Sequence[Selected]) -> str:
        """Return the text of a run, without line breaks: EDUs that follow each other keep the text between them.

        With `tidy`, it is a sentence, unless it is only a label. A clause that is reported begins without "that" if the
        attribution was not selected.
        """
        words = run[0].text
        for last, unit in pairwise(run):
            between = " "
            if unit.index == last.index + 1:
                between = self.document.text[last.end : unit.start]
            elif self._clauses[last.index] == self._clauses[unit.index] and _has_loose_comma(last.text, unit.text):
                words = words.removesuffix(",")
            if self.tidy and unit.index > last.index + 1:
                words = closed_before(words, self.document.text[last.end : unit.start])
            words += between + unit.text
        words = _single_line(words)
        if not self.tidy or {unit.index for unit in run} <= self._labels:
            return words
        if run[0].index in self._reported:
            words = _THAT.sub("", words)
        return tidied(self._completed(words, run[0], run[-1]))

    def _completed(self, words: str, first: Selected, last: Selected) -> str:
        """Return the words of a run from `first` to `last`, with both marks of quotations that the selection cuts."""
        text, units = self.document.text, self.document.units(self.unit)
        before, after = first.index - 1, last.index + 1
        if before in self._chosen and after in self._chosen:
            return words
        while before in self._chosen and first.start - units[before].start < _REACH:
            before -= 1
        while after in self._chosen and units[after].end - last.end < _REACH:
            after += 1
        begin, end = units[before + 1].start, units[after - 1].end
        return completed(
            words,
            BLANK_LINE.split(text[max(0, begin - _REACH) : begin])[-1],
            BLANK_LINE.split(text[end : end + _REACH], 1)[0],
            text[begin : first.start],
            text[last.end : end],
        )

    @cached_property
    def _chosen(self) -> frozenset[int]:
        return frozenset(unit.index for unit in self.selected)


def _single_line(text: str) -> str:
    """Return a text as one line; if all its further lines are quoted, without their `>`."""
    first, *others = text.splitlines() or [""]
    quotes = [QUOTE.match(line.lstrip()) for line in others]
    if quotes and all(quotes):
        others = [line.lstrip()[quote.end() :] for line, quote in zip(others, quotes, strict=True) if quote]
        text = "\n".join([first, *others])
    return single_line(text)


def _has_loose_comma(first: str, second: str) -> bool:
    """Return whether a comma at the end of the first part of a clause is only that before what interrupts it.

    It is not in "Anna Berg, 45, who left, ...", nor before a noun: "After that day, which was long, the mill ...".
    """
    return first.endswith(",") and "," not in first[:-1] and not _NOUN.match(second)


def _finite(score: float) -> float | None:
    return score if isfinite(score) else None
