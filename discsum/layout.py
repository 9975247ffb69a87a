"""The layout of a text: which of its units are headings, labels, bylines, list fragments or code, and not prose.

Rules on lines, their length, white space and punctuation decide, not a model: what a reader sees before reading.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import replace

from discsum.layout_lines import BODY, BYLINE, CODE, HEADING, KINDS, LABEL, LIST, Line, is_byline, lines_of
from discsum.layout_patterns import BULLET, CHECKBOX, DATED, DATELINE, HALVES, LEADING, LINK, QUOTE, TIMES
from discsum.layout_rows import TURNS
from discsum.writing import WORD, ends_sentence

__all__ = ["BODY", "BYLINE", "CODE", "HEADING", "KINDS", "LABEL", "LIST", "Layout", "has_content"]

# Fewest words of a text with content.
CONTENT_WORDS = 2


class Layout:
    """The non-blank lines of a text, from which the kinds of units follow."""

    def __init__(self, text: str) -> None:
        """Find the lines of a text."""
        self.text = text
        self.lines = lines_of(text)
        speakers = [re.sub(TIMES, "", text[line.start : line.content]) for line in self.lines if line.speaker]
        # In a structured abstract, each label occurs once: Background, Methods, Results.
        self.conversation = len(speakers) >= TURNS and len(set(speakers)) < len(speakers)
        if self.conversation:
            # What is said is no heading, even if it is a question or lacks a full stop.
            self.lines = [replace(line, kind=BODY) if _is_said(line) else line for line in self.lines]
        self._starts = [line.start for line in self.lines]
        # By line, the offsets at which its words begin; found when needed.
        self._words: dict[int, list[int]] = {}

    def openings(self) -> list[int]:
        """Return the offsets that open a unit: of lines, and in a conversation of turns, after their labels."""
        opens = {line.start for line in self.lines if line.opens}
        turns = {line.content for line in self.lines if self.conversation and line.speaker and line.content < line.end}
        return sorted(opens | turns)

    def markers(self) -> list[tuple[int, int]]:
        """Return for each line with a bullet, number, time or `>` its first offset, and that of its text after it.

        In a conversation also the first and last offset of each speaker label.
        """
        found = []
        for line in self.lines:
            if self.conversation and line.speaker:
                found.append((line.start, line.content - 1))
                continue
            quote = QUOTE.match(self.text, line.start, line.end)
            if not quote and not BULLET.fullmatch(self.text[line.start : line.content]):
                if number := LEADING.match(self.text, line.start, line.end):
                    found.append(number.span())
                continue
            place = self._after_space(max(line.content, quote.end() if quote else 0), line.end)
            while inner := BULLET.match(self.text, place, line.end) or CHECKBOX.match(self.text, place, line.end):
                place = self._after_space(inner.end(), line.end)
            if place < line.end:
                found.append((line.start, place))
        return found

    def _after_space(self, place: int, end: int) -> int:
        """Return the first offset from `place` on that is not white space; at most `end`."""
        while place < end and self.text[place].isspace():
            place += 1
        return place

    def datelines(self) -> list[tuple[int, int]]:
        """Return for each line that begins with a dateline its first offset, and that of the dateline's last dash."""
        matches = ((line, DATELINE.match(self.text, line.start, line.end)) for line in self.lines)
        found = [match for line, match in matches if match and DATED.match(self.text, match.end(), line.end)]
        return [(match.start(), match.end() - 1) for match in found]

    def headings(self) -> list[tuple[int, int]]:
        """Return the offsets of the first and last letter of each heading without a colon, dash or sentence end."""
        headings = [line for line in self.lines if line.kind == HEADING]
        return [(line.start, line.end - 1) for line in headings if not HALVES.search(self.text, line.start, line.end)]

    def kinds(self, spans: Sequence[tuple[int, int]]) -> tuple[str, ...]:
        """Return the kind of each unit, a half-open range of offsets: body if some of it is in a line of prose."""
        return tuple(self._kind(start, end) for start, end in spans)

    def labels(self, spans: Sequence[tuple[int, int]]) -> list[int]:
        """Return for each unit the index of the unit that is its turn's speaker label, -1 without one.

        A turn ends at the next label or heading, and at a blank line unless the text is a conversation.
        """
        kinds = self.kinds(spans)
        found, label = [], -1
        for index, (start, end) in enumerate(spans):
            line = self.lines[max(0, bisect_right(self._starts, start) - 1)]
            if start == line.start:
                apart = line.blank and label != index - 1 and not self.conversation
                closes = line.speaker or apart or kinds[index] != BODY
                label = -1 if closes else label
            found.append(label)
            # A time and a name may be two units: the first is then the label of the second.
            if line.speaker and kinds[index] == LABEL and end <= line.content:
                label = index
        return found

    def _kind(self, start: int, end: int) -> str:
        unit = " ".join(self.text[start:end].split())
        first = max(0, bisect_right(self._starts, start) - 1)
        lines = [line for line in self.lines[first : bisect_right(self._starts, end - 1)] if line.end > start]
        if not WORD.search(unit) or (lines and end <= lines[0].content):
            return LABEL
        if is_byline(unit):
            return BYLINE
        if lines and all(line.kind != BODY for line in lines):
            return lines[0].kind
        return BODY if has_content(unit) or (lines and self._is_within(start, end, lines[0])) else LABEL

    def _is_within(self, start: int, end: int, line: Line) -> bool:
        """Return whether a word is a sentence between others of its line: "Guilty." but no agency at their end."""
        unit = self.text[start:end]
        if unit.isupper() or not ends_sentence(unit):
            return False
        words = self._words_of(line)
        before = bisect_left(words, start) - bisect_left(words, line.content)
        after = len(words) - bisect_left(words, end)
        return min(before, after) >= CONTENT_WORDS

    def _words_of(self, line: Line) -> list[int]:
        """Return the offsets at which the words of a line begin, without those of links."""
        if line.start not in self._words:
            unlinked = LINK.sub(lambda link: " " * len(link[0]), self.text[line.start : line.end])
            self._words[line.start] = [line.start + word.start() for word in WORD.finditer(unlinked)]
        return self._words[line.start]


def _is_said(line: Line) -> bool:
    """Return whether a line looks like a heading, but is what somebody says after a speaker label."""
    return line.speaker and line.kind == HEADING and line.content < line.end


def has_content(text: str) -> bool:
    """Return whether a text has at least two words, not counting digits, punctuation and links."""
    return len(WORD.findall(LINK.sub("", text))) >= CONTENT_WORDS
