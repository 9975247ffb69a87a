"""The sentences or EDUs of a text that is read from its beginning to its end."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from discsum.document import Span
from discsum.parsers.segmenter import SpanCutter
from discsum.parsers.subwords import Subwords, first_subwords


class Units:
    """The units that have ended so far; given ones end as the reading passes them, others where offsets are found.

    Attributes:
        spans: Those that have ended.
        starts: `(units,)` first subword of each, of given ones that have not ended too.
        following: First subword of the unit after those that have ended; the number of subwords if there is none.
    """

    def __init__(self, text: str, words: Subwords, given: Sequence[Span] | None) -> None:
        """Begin before the first unit."""
        self._words, self._given, self._cutter = words, given, SpanCutter(text)
        self.spans: Sequence[Span] = self._cutter.spans if given is None else []
        self.starts = first_subwords(words, given or [])
        self.following = 0

    @property
    def found(self) -> bool:
        """Whether units are not given."""
        return self._given is None

    def go_on(self, after: int, offsets: Iterable[int] = ()) -> None:
        """End the units that are followed by another one before subword `after`, all if that is the last.

        Args:
            after: Where the reading is.
            offsets: Where units begin, up to there; none if units are given.
        """
        words = self._words
        if self._given is not None:
            # The next unit must have been seen: how it begins is known of the last one that has ended.
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
