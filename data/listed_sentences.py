"""Notice a column whose lists look like the sentences of one summary although they are read as several summaries."""

from __future__ import annotations

import re
import warnings
from typing import Any

from discsum.errors import InputWarning

# Number of lists that are looked at, and share of their items that are single sentences.
LISTS, SHARE = 100, 0.9
# Most words of a sentence.
WORDS = 80
# The end of a sentence that another one follows.
_INNER_END = re.compile(r"[.!?]['\")\]’”]*\s+\S|\n\s*\S")


class ListedSentences:
    """Warns once if the lists of a column look like the sentences of one summary."""

    def __init__(self, column: str) -> None:
        """Take the name of the column."""
        self.column = column
        self._lengths: list[int] = []
        self._single = 0
        self._done = False

    def add(self, value: Any, table: str) -> None:
        """Look at the value in a row of a table; warn if it is that of the last row that is looked at."""
        if self._done or not isinstance(value, list | tuple):
            return
        items = [item for item in value if isinstance(item, str) and item.strip()]
        self._lengths.append(len(items))
        self._single += sum(len(item.split()) <= WORDS and not _INNER_END.search(item.strip()) for item in items)
        if len(self._lengths) == LISTS:
            self.finish(table)

    def finish(self, table: str) -> None:
        """Warn if the lists so far differ in length and nearly all of their items are single sentences."""
        told, self._done = self._done, True
        if told or len(set(self._lengths)) < 2 or self._single < SHARE * sum(self._lengths):
            return
        warnings.warn(
            f"{table}: lists in the column {self.column} are read as several summaries of a text, of which the best "
            "one counts, but look like the sentences of one; if so, rename the column to highlights, or join each list "
            "with line breaks",
            InputWarning,
            stacklevel=3,
        )
