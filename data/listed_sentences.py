"""Notice lists of summaries that would be misread: lists written as text, and those of the sentences of one summary."""

from __future__ import annotations

import re
from itertools import pairwise
from statistics import fmean
from typing import Any

from discsum.errors import InputError, warn_caller

# Number of rows that are looked at, and share of the items of their lists that are single sentences.
ROWS, SHARE = 100, 0.9
# Consecutive sentences of a summary share fewer words than this, mean over the lists; several summaries share more. In
# 300 documents it is 0.07 for the highlights of CNN/DailyMail and 0.14 for abstracts, 0.24 for the summaries of SciTLDR
# and 0.58 for those of DialogSum.
OVERLAP = 0.18
# Most words of a sentence.
WORDS = 80
# The end of a sentence that another one follows.
_INNER_END = re.compile(r"[.!?]['\")\]’”]*\s+\S|\n\s*\S")
# What pandas and `csv` write to a CSV for a list.
_WRITTEN = re.compile(r"\[\s*(?:(?:None|'.*'|\".*\")(?:,?\s.*)?)?\]", re.DOTALL)
# A word other than most function words.
_WORD = re.compile(r"\w{4,}")


def check_no_list_as_text(value: Any, wanted: str) -> None:
    """Raise `InputError` for a text that is a list, or the mark of a missing value, written to a CSV."""
    if not isinstance(value, str):
        return
    text = value.strip()
    if text.lower() == "nan":
        raise InputError(f"expected {wanted}, got {clipped(value)}, which stands for a missing value")
    if text.startswith("[") and text.endswith("]") and _WRITTEN.fullmatch(text):
        raise InputError(
            f"expected {wanted}, got {clipped(value)}, which looks like a list written as text; CSV has no lists, so "
            "write the table as JSON lines or Parquet"
        )


def clipped(value: Any) -> str:
    """Return the beginning of a value for an error."""
    if value is None:
        return "nothing"
    return repr(value) if len(repr(value)) <= 40 else f"{repr(value)[:40]}…"


class ListedSentences:
    """Warns once if the lists of a column look like the sentences of one summary."""

    def __init__(self, column: str) -> None:
        """Take the name of the column."""
        self.column = column
        self._lengths: list[int] = []
        self._single = 0
        self._overlaps: list[float] = []
        self._rows = 0

    def add(self, value: Any, table: str) -> None:
        """Look at the value in a row of a table; warn if it is that of the last row that is looked at."""
        if self._rows == ROWS:
            return
        self._rows += 1
        values = value if isinstance(value, list | tuple) else []
        if items := [item for item in values if isinstance(item, str) and item.strip()]:
            self._lengths.append(len(items))
            self._single += sum(len(item.split()) <= WORDS and not _INNER_END.search(item.strip()) for item in items)
            self._overlaps += [_overlap(*pair) for pair in pairwise(items)]
        if self._rows == ROWS:
            self._judge(table)

    def finish(self, table: str) -> None:
        """Warn at the end of the table, if it has fewer rows than are looked at."""
        if self._rows < ROWS:
            self._judge(table)

    def _judge(self, table: str) -> None:
        """Warn if the lists differ in length, and their items are single sentences and share few words."""
        single = self._single >= SHARE * sum(self._lengths)
        if len(set(self._lengths)) < 2 or not single or not self._overlaps or fmean(self._overlaps) > OVERLAP:
            return
        warn_caller(
            f"{table}: lists in the column {self.column} are read as several summaries of a text, of which the best "
            "one counts, but look like the sentences of one; if so, rename the column to highlights, or join each list "
            "with line breaks"
        )


def _overlap(one: str, other: str) -> float:
    """Return the share of words of the shorter text that the other has too."""
    words, others = ({*_WORD.findall(text.lower())} for text in (one, other))
    return len(words & others) / max(1, min(len(words), len(others)))
