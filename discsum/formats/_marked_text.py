"""A document's text as HTML: sentences and EDUs as elements, units coloured by score, those of a summary marked."""

from __future__ import annotations

import re
from collections.abc import Sequence
from html import escape
from typing import TYPE_CHECKING

import numpy as np

from discsum.constants import UNITS
from discsum.document import Document, Span
from discsum.layout import HEADING

if TYPE_CHECKING:
    from discsum.summary import Summary

# Steps of the colour scale.
LEVELS = 10
_PARAGRAPH = '<div class="paragraph" dir="auto">'
# Characters that HTML forbids or a browser would alter; tabs, line breaks and spaces stay.
_FORBIDDEN = re.compile("[\x00-\x08\x0b\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufdd0-\ufdef\ufffe\uffff]")


def displayable(text: str) -> str:
    """Return the text with U+FFFD for every character that HTML forbids."""
    return _FORBIDDEN.sub("\ufffd", text)


def marked_text(document: Document, summary: Summary | None = None) -> str:
    """Return the text as HTML; every character of it is escaped.

    A paragraph is a `div`, so that it has its own direction of writing, and a browser need not lay it out while it is
    out of view. A sentence is an element with `data-sentence`, and each part of an EDU in it is one with `data-edu`.
    With a summary, units of its kind have a class `heat-0` to `heat-9`, and the selected ones are `mark` elements.
    """
    starts = np.array([edu.start for edu in document.edus], dtype=np.int64)
    looks = {unit: _Look(unit, summary, len(document.units(unit))) for unit in UNITS}
    kinds = document.layout
    parts, position = [_PARAGRAPH], 0
    for index, sentence in enumerate(document.sentences):
        parts.append(_between(document.text[position : sentence.start]))
        heading = " heading" if kinds[index] == HEADING else ""
        opening, closing = looks["sentence"].tags(index, heading)
        first = max(0, int(np.searchsorted(starts, sentence.start, side="right")) - 1)
        parts += [opening, *_edus(document, sentence, first, looks["edu"]), closing]
        position = sentence.end
    return "".join([*parts, escaped(document.text[position:]), "</div>"])


def heat(scores: Sequence[float]) -> list[int]:
    """Return the step of the colour scale of each score, linear from the least to the greatest."""
    values = np.asarray(scores, dtype=np.float64)
    finite = values[np.isfinite(values)]
    least, greatest = (finite.min(), finite.max()) if len(finite) else (0.0, 0.0)
    values = np.nan_to_num(values, nan=least, posinf=greatest, neginf=least)
    if not len(values) or np.ptp(values) == 0:
        return [0] * len(values)
    steps = (values - values.min()) / np.ptp(values) * LEVELS
    return [int(step) for step in np.minimum(steps, LEVELS - 1)]


class _Look:
    """The tags of the units of one kind."""

    def __init__(self, unit: str, summary: Summary | None, count: int) -> None:
        chosen = summary if summary is not None and summary.unit == unit else None
        self.unit = unit
        self.heat: list[int | None] = [*heat(chosen.scores)] if chosen and chosen.scores else [None] * count
        self.selected = {one.index for one in chosen.selected} if chosen else set()

    def tags(self, index: int, more: str = "") -> tuple[str, str]:
        name = "mark" if index in self.selected else "span"
        warm = "" if self.heat[index] is None else f" heat-{self.heat[index]}"
        return f'<{name} class="{self.unit}{warm}{more}" data-{self.unit}="{index}">', f"</{name}>"


def _edus(document: Document, sentence: Span, first: int, look: _Look) -> list[str]:
    """Return the text of a sentence with the parts of EDUs in it; `first` is the first EDU that may be in it."""
    parts, position = [], sentence.start
    for index in range(first, len(document.edus)):
        start, end = max(document.edus[index].start, sentence.start), min(document.edus[index].end, sentence.end)
        if start >= sentence.end:
            break
        if start < end:
            opening, closing = look.tags(index)
            parts += [escaped(document.text[position:start]), opening, escaped(document.text[start:end]), closing]
            position = end
    return [*parts, escaped(document.text[position : sentence.end])]


def _between(space: str) -> str:
    """Return the white space between two sentences; a paragraph ends after the last line break."""
    line, found, rest = space.rpartition("\n")
    return f"{escaped(line + found)}</div>{_PARAGRAPH}{escaped(rest)}" if found else escaped(space)


def escaped(text: str) -> str:
    """Return the text as HTML."""
    return escape(displayable(text))
