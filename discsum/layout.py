"""The layout of a text: which of its units are headings, labels, bylines, list fragments or code, and not prose.

Rules on lines, their length, white space and punctuation decide, not a model: what a reader sees before reading.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from discsum.layout_patterns import (
    BULLET,
    BYLINE_LINE,
    CALL,
    CODE_LINE,
    CONNECTING,
    DANGLING,
    FENCE,
    FURNITURE,
    HEADER,
    LINE,
    LINK,
    LONGEST_BYLINE,
    MAIL_HEADER,
    MARKDOWN_HEADING,
    NAMES,
    REFERENCES,
    RULE,
    SIGN,
    SPEAKER,
    TABLE,
    TIMES,
    UNDERLINE,
)
from discsum.writing import BLANK_LINE, WORD, ends_sentence

HEADING, LABEL, BYLINE, LIST, CODE, BODY = KINDS = ("heading", "label", "byline", "list", "code", "body")
# A heading has at most `HEADING_WORDS` words, a list fragment fewer than `FRAGMENT_WORDS`.
HEADING_WORDS, FRAGMENT_WORDS = 12, 6
# Characters of the longest line, at most, of a text in narrow columns.
NARROW = 60
# Lines with a speaker label from which a text counts as a conversation.
TURNS = 3


@dataclass(frozen=True, slots=True)
class Line:
    """A line of a text, without white space at its ends.

    Attributes:
        start: Offset of its first character.
        end: Offset after its last character.
        kind: One of `KINDS`.
        content: Offset after its bullet, number or speaker label; `start` if it has none.
        speaker: Whether it begins with a speaker label.
        opens: Whether it opens a unit: a heading, a list item, a turn, or the line after a heading.
        blank: Whether a blank line precedes it; true of the first line.
    """

    start: int
    end: int
    kind: str
    content: int
    speaker: bool
    opens: bool
    blank: bool


class Layout:
    """The non-blank lines of a text, from which the kinds of units follow."""

    def __init__(self, text: str) -> None:
        """Find the lines of a text."""
        self.text = text
        self.lines = _lines(text)
        speakers = [re.sub(TIMES, "", text[line.start : line.content]) for line in self.lines if line.speaker]
        # In a structured abstract, each label occurs once: Background, Methods, Results.
        self.conversation = len(speakers) >= TURNS and len(set(speakers)) < len(speakers)
        if self.conversation:
            # What is said is no heading, even if it is a question or lacks a full stop.
            self.lines = [replace(line, kind=BODY) if _is_said(line) else line for line in self.lines]
        self._starts = [line.start for line in self.lines]

    def openings(self) -> list[int]:
        """Return the offsets that open a unit: of lines, and in a conversation of turns, after their labels."""
        opens = {line.start for line in self.lines if line.opens}
        turns = {line.content for line in self.lines if self.conversation and line.speaker and line.content < line.end}
        return sorted(opens | turns)

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
        if _is_byline(unit):
            return BYLINE
        if lines and all(line.kind != BODY for line in lines):
            return lines[0].kind
        return BODY if has_content(unit) or (lines and self._is_within(start, end, lines[0])) else LABEL

    def _is_within(self, start: int, end: int, line: Line) -> bool:
        """Return whether a word is a sentence between others of its line: "Guilty." but no agency at their end."""
        unit, around = self.text[start:end], (self.text[line.content : start], self.text[end : line.end])
        return ends_sentence(unit) and not unit.isupper() and all(map(has_content, around))


def _is_said(line: Line) -> bool:
    """Return whether a line looks like a heading, but is what somebody says after a speaker label."""
    return line.speaker and line.kind == HEADING and line.content < line.end


def has_content(text: str) -> bool:
    """Return whether a text has at least two words, not counting digits, punctuation and links."""
    return len(WORD.findall(LINK.sub("", text))) > 1


@dataclass(frozen=True, slots=True)
class _Row:
    """A line before its kind is determined.

    Attributes:
        start: Offset of its first character.
        text: The line without white space at its ends.
        indent: Columns of white space before it.
        blank: Whether a blank line precedes it; true of the first line.
        meant: Whether the line break before it is intended, and does not just wrap a paragraph.
        last: Whether a blank line or nothing follows.
        broken: Whether the line break after it is intended.
        before: The text of the line before.
        following: The text of the next line.
    """

    start: int
    text: str
    indent: int
    blank: bool
    meant: bool
    last: bool
    broken: bool
    before: str
    following: str


def _rows(text: str) -> list[_Row]:
    found = [match for match in LINE.finditer(text) if match[0].strip()]
    texts = [match[0].strip() for match in found]
    # Addresses may be longer than wrapped lines.
    width = max((len(line) for line in texts if " " in line), default=0)
    blanks = [
        not place or BLANK_LINE.search(text, found[place - 1].end() - 1, found[place].end()) is not None
        for place in range(len(found))
    ]
    # Whether the break before each line, and the one after the last, wraps a paragraph.
    wraps = [*_wraps(texts, blanks, width), False]
    rows: list[_Row] = []
    for place, (match, line) in enumerate(zip(found, texts, strict=True)):
        indent = len(match[0]) - len(match[0].lstrip())
        before = texts[place - 1] if place else ""
        following = texts[place + 1] if place + 1 < len(texts) else ""
        blank, last = blanks[place], not following or blanks[place + 1]
        meant = blank or _ends(before) or not wraps[place]
        broken = last or not wraps[place + 1]
        columns = len(match[0][:indent].expandtabs(4))
        rows.append(_Row(match.start() + indent, line, columns, blank, meant, last, broken, before, following))
    return rows


def _wraps(texts: Sequence[str], blanks: Sequence[bool], width: int) -> list[bool]:
    """Return for each line whether the break before it wraps a paragraph; `width` is that of the longest line.

    The line before has no room for the first word; or, in a text of narrow lines, which are seldom full, the sentence
    goes on.
    """
    narrow = _narrow_prose(texts, blanks) if width <= NARROW else frozenset()
    return [False] * bool(texts) + [
        len(before) + 1 + len(line.split()[0]) >= width or (place in narrow and _goes_on(before, line))
        for place, (before, line) in enumerate(pairwise(texts), start=1)
    ]


def _narrow_prose(texts: Sequence[str], blanks: Sequence[bool]) -> frozenset[int]:
    """Return the lines, but the first, of paragraphs that begin and end as sentences do, and have no other end inside.

    Lists do not end like that.
    """
    lines: set[int] = set()
    starts = [place for place, blank in enumerate(blanks) if blank]
    for first, after in pairwise([*starts, len(texts)]):
        paragraph = texts[first:after]
        marked = any(BULLET.match(line) or SPEAKER.match(line) for line in paragraph)
        begins = paragraph[0][:1].isupper() or not paragraph[0][:1].isalnum()
        if begins and ends_sentence(paragraph[-1]) and not marked and not any(map(_ends, paragraph[:-1])):
            lines.update(range(first + 1, after))
    return frozenset(lines)


def _goes_on(line: str, following: str) -> bool:
    """Return whether the sentence of a line goes on in the following one, by a function word beside the break."""
    *_, last = line.split()
    first, *_ = following.split()
    return last in DANGLING or (first[:1].islower() and (last.lower() in CONNECTING or first in CONNECTING))


def _is_byline(line: str) -> bool:
    # The time of some patterns is quadratic in the length.
    return len(line) <= LONGEST_BYLINE and BYLINE_LINE.fullmatch(line) is not None


def _lines(text: str) -> list[Line]:
    lines: list[Line] = []
    references, fence = False, ""
    rows = _rows(text)
    closing = _closing_fences(rows)
    for place, row in enumerate(rows):
        mark = FENCE.match(row.text)
        if mark and not fence and (closing[place].get(mark[0][0], 0) < len(mark[0]) or _is_rule(row)):
            mark = None
        bullet, speaker = (pattern.match(row.text) if row.meant else None for pattern in (BULLET, SPEAKER))
        kind = CODE if mark or fence else _line_kind(row, bullet, speaker)
        if not fence:
            fence = mark[0] if mark else ""
        elif mark and mark[0] == row.text and mark[0].startswith(fence):
            # Inside a block, shorter fences and those with a language are code.
            fence = ""
        if kind == HEADING:
            references = REFERENCES.fullmatch(row.text) is not None
        elif references:
            kind = LIST
        marker = bullet or speaker if kind != CODE else None
        after_other = bool(lines) and lines[-1].kind not in (BODY, kind)
        opens = row.meant and (kind not in (BODY, CODE) or after_other or marker is not None)
        content = row.start + (marker.end() if marker else 0)
        is_turn = speaker is not None and marker is speaker and not MAIL_HEADER.match(row.text)
        lines.append(Line(row.start, row.start + len(row.text), kind, content, is_turn, opens, row.blank))
    return lines


def _closing_fences(rows: Sequence[_Row]) -> list[dict[str, int]]:
    """Return for each line the length of the longest fence that closes a block after it, by character."""
    found: list[dict[str, int]] = []
    longest: dict[str, int] = {}
    for row in reversed(rows):
        found.append(longest)
        mark = FENCE.match(row.text)
        if mark and mark[0] == row.text:
            longest = longest | {mark[0][0]: max(len(mark[0]), longest.get(mark[0][0], 0))}
    return found[::-1]


def _is_rule(row: _Row) -> bool:
    """Return whether a line of tildes stands alone or underlines the line before."""
    alone, under = row.blank and row.last, not row.blank and len(row.text) >= max(4, len(row.before))
    return not row.text.strip("~") and (alone or under)


def _is_code(line: str) -> bool:
    ends_call = line.endswith(")") and (CALL.match(line[:-1]) or "=" in line)
    ends_statement = line.endswith(";") and (" " not in line or SIGN.search(line))
    return bool(CODE_LINE.search(line) or ends_call or ends_statement)


def _line_kind(row: _Row, bullet: re.Match[str] | None, speaker: re.Match[str] | None) -> str:
    line = row.text
    if TABLE.match(line) or (row.indent >= 4 and _is_code(line)):
        return CODE
    if RULE.fullmatch(line) or not WORD.search(LINK.sub("", line)):
        return LABEL
    if _is_byline(line):
        return BYLINE
    if REFERENCES.fullmatch(line):
        return HEADING
    if row.meant and (HEADER.match(line) or (FURNITURE.match(line) and len(line.split()) <= HEADING_WORDS)):
        return LABEL
    if speaker and speaker.end() == len(line) and not BULLET.match(row.following):
        return LABEL
    if _is_heading(row, bullet):
        return HEADING
    return _fragment(row, bullet) if row.meant and row.broken else BODY


def _fragment(row: _Row, bullet: re.Match[str] | None) -> str:
    """Return the kind of a line that stands alone: names, a short item, a clause of the sentence above, or prose."""
    content = row.text[bullet.end() :].strip() if bullet else row.text
    words = len(content.split())
    if NAMES.fullmatch(content) and words <= HEADING_WORDS:
        return LABEL
    # "(a) the goods are damaged;"
    clause = bullet is not None and content[:1].islower() and (bullet[0][-1] == ")" or content.endswith((";", ",")))
    short = len(WORD.findall(content)) < FRAGMENT_WORDS and not _ends(content)
    return LIST if short or (clause and words <= HEADING_WORDS) else BODY


def _is_heading(row: _Row, bullet: re.Match[str] | None) -> bool:
    """Return whether a line is short, begins like a title, lacks final punctuation, and is not wrapped."""
    line = row.text
    if MARKDOWN_HEADING.match(line):
        return True
    number = bullet if bullet and bullet[0][0].isdigit() else re.match(r"\d{1,2}(?=\s+[A-Z])", line)
    title = line[number.end() :].strip() if number else line
    if not row.meant or not row.following or len(line.split()) > HEADING_WORDS or (bullet and not number):
        return False
    if not row.last and not _ends(line) and UNDERLINE.fullmatch(row.following):
        return True
    if line.endswith((",", "; and", "; or", ", and", ", or")) or (number and _is_step(row)):
        return False
    if line.endswith(":") or (line.isupper() and len(title) > 3):
        return True
    asks = line.endswith("?") and row.blank and _ends(row.following) and not row.following.endswith("?")
    if not title[:1].isupper() or (_ends(line) and not asks) or title.startswith(("I ", "I'", "I’")):
        return False
    return row.last or asks or number is not None or (row.broken and row.following[:1].isupper())


def _is_step(row: _Row) -> bool:
    """Return whether a line with a number is one of a list, with no blank line between it and the next or last."""
    near = [text for text, apart in ((row.following, row.last), (row.before, row.blank)) if not apart]
    return any(re.match(r"\d", text) and BULLET.match(text) for text in near)


def _ends(line: str) -> bool:
    return ends_sentence(line, also=":;")
