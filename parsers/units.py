"""The sentences or EDUs of a text that is read in stretches."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from discsum.document import Span
from discsum.parsers.segmenter import SpanCutter
from discsum.parsers.subwords import Subwords, first_subwords


class Units:
    """The units that have ended so far: given units end as the text is read, others where boundaries are found.

    Attributes:
        spans: Spans of the units that have ended.
        starts: `(units,)` first subword of each unit; if units are given, also of those that have not ended.
        following: First subword of the unit after those that have ended; the number of subwords if there is none.
    """

    def __init__(self, text: str, words: Subwords, given: Sequence[Span] | None) -> None:
        """Start before the first unit."""
        self._words, self._given, self._cutter = words, given, SpanCutter(text)
        self.spans: Sequence[Span] = self._cutter.spans if given is None else []
        self.starts = first_subwords(words, given or [])
        self.following = 0

    @property
    def found(self) -> bool:
        """Whether units must be found because they are not given."""
        return self._given is None

    def advance(self, after: int, offsets: Iterable[int] = ()) -> None:
        """End the units that are followed by a unit that begins before subword `after`; at the text's end, all.

        Args:
            after: The subword up to which the text has been read.
            offsets: Character offsets up to there at which units begin; none if units are given.
        """
        words = self._words
        if self._given is not None:
            # A unit has ended once the beginning of the next one has been read, which its layout includes.
            ended = int(np.searchsorted(self.starts[1:], after)) if after < len(words) else len(self.starts)
            self.spans = self._given[:ended]
            self.following = int(self.starts[ended]) if ended < len(self.starts) else len(words)
            return
        before = len(self.spans)
        self._cutter.cut(offsets)
        if after == len(words):
            self._cutter.end()
        self.starts = np.append(self.starts, first_subwords(words, self.spans[before:]))
        beginning = [Span(self._cutter.start, self._cutter.start + 1)]
        self.following = int(first_subwords(words, beginning)[0]) if after < len(words) else len(words)
