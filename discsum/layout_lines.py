"""The kinds of lines: heading, label, byline, list fragment, code or prose."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from discsum.layout_patterns import (
    BULLET,
    BYLINE_LINE,
    CALL,
    CODE_LINE,
    CUE,
    ENDS_INSIDE,
    FENCE,
    FOOTNOTE,
    FURNITURE,
    HEADER,
    LINK,
    LONGEST_BYLINE,
    LONGEST_FURNITURE,
    MAIL_HEADER,
    MARKDOWN_HEADING,
    NAMES,
    QUANTITY,
    REFERENCES,
    RULE,
    SIGN,
    SPEAKER,
    TABLE,
    TRACE,
    UNDERLINE,
)
from discsum.layout_rows import Row, ends_line, rows_of
from discsum.writing import WORD

HEADING, LABEL, BYLINE, LIST, CODE, BODY = KINDS = ("heading", "label", "byline", "list", "code", "body")
# A heading has at most `HEADING_WORDS` words, a list fragment fewer than `FRAGMENT_WORDS`.
HEADING_WORDS, FRAGMENT_WORDS = 12, 6


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


def lines_of(text: str) -> list[Line]:
    """Return the lines of a text that are not blank, with their kinds."""
    lines: list[Line] = []
    references, fence = False, ""
    rows = rows_of(text)
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


def is_byline(line: str) -> bool:
    """Return whether a line or unit names who wrote, published or edited the text, or when and where."""
    # The time of some patterns is quadratic in the length.
    return len(line) <= LONGEST_BYLINE and BYLINE_LINE.fullmatch(line) is not None


def _closing_fences(rows: Sequence[Row]) -> list[dict[str, int]]:
    """Return for each line the length of the longest fence that closes a block after it, by character."""
    found: list[dict[str, int]] = []
    longest: dict[str, int] = {}
    for row in reversed(rows):
        found.append(longest)
        mark = FENCE.match(row.text)
        if mark and mark[0] == row.text:
            longest = longest | {mark[0][0]: max(len(mark[0]), longest.get(mark[0][0], 0))}
    return found[::-1]


def _is_rule(row: Row) -> bool:
    """Return whether a line of tildes stands alone or underlines the line before."""
    alone, under = row.blank and row.last, not row.blank and len(row.text) >= max(4, len(row.before))
    return not row.text.strip("~") and (alone or under)


def _is_code(line: str) -> bool:
    ends_call = line.endswith(")") and (CALL.match(line[:-1]) or "=" in line)
    ends_statement = line.endswith(";") and (" " not in line or SIGN.search(line))
    return bool(CODE_LINE.search(line) or ends_call or ends_statement)


def _line_kind(row: Row, bullet: re.Match[str] | None, speaker: re.Match[str] | None) -> str:
    line = row.text
    if row.table or TABLE.match(line) or TRACE.match(line) or (row.indent >= 4 and _is_code(line)):
        return CODE
    if RULE.fullmatch(line) or CUE.match(line) or not WORD.search(LINK.sub("", line)):
        return LABEL
    if is_byline(line):
        return BYLINE
    if REFERENCES.fullmatch(line):
        return HEADING
    # The length first: names in a line of thousands of dots take seconds.
    short = len(line) <= LONGEST_FURNITURE and len(line.split()) <= HEADING_WORDS
    if row.meant and (HEADER.match(line) or (short and FURNITURE.match(line))):
        return LABEL
    if speaker and speaker.end() == len(line) and not BULLET.match(row.following):
        return LABEL
    if row.meant and FOOTNOTE.match(line):
        return LIST
    if row.subtitle:
        return BODY
    if _is_heading(row, bullet):
        return HEADING
    return _fragment(row, bullet) if row.meant and row.broken else BODY


def _fragment(row: Row, bullet: re.Match[str] | None) -> str:
    """Return the kind of a line that stands alone: names, a short item, a clause of the sentence above, or prose."""
    content = row.text[bullet.end() :].strip() if bullet else row.text
    words = len(content.split())
    if NAMES.fullmatch(content) and words <= HEADING_WORDS:
        return LABEL
    # "(a) the goods are damaged;"
    clause = bullet is not None and content[:1].islower() and (bullet[0][-1] == ")" or content.endswith((";", ",")))
    # "- 2 large onions, peeled and cut into rings"
    ingredient = bullet is not None and _is_ingredient(row, content)
    short = len(WORD.findall(content)) < FRAGMENT_WORDS and not ends_line(content)
    return LIST if short or ((clause or ingredient) and words <= HEADING_WORDS) else BODY


def _is_ingredient(row: Row, content: str) -> bool:
    """Return whether the content of an item begins with a quantity, like that of an item beside it."""
    if not QUANTITY.match(content) or ends_line(content):
        return False
    beside = ((line, BULLET.match(line)) for line in (row.before, row.following))
    return any(QUANTITY.match(line[bullet.end() :].strip()) for line, bullet in beside if bullet)


def _is_heading(row: Row, bullet: re.Match[str] | None) -> bool:
    """Return whether a line is short, begins like a title, lacks final punctuation, and is not wrapped."""
    line = row.text
    if MARKDOWN_HEADING.match(line):
        return True
    number = bullet if bullet and bullet[0][0].isdigit() else re.match(r"\d{1,2}(?=\s+[A-Z])", line)
    title = line[number.end() :].strip() if number else line
    if not row.meant or not row.following or len(line.split()) > HEADING_WORDS or (bullet and not number):
        return False
    if not row.last and not ends_line(line) and UNDERLINE.fullmatch(row.following):
        return True
    if line.endswith((",", "; and", "; or", ", and", ", or")) or (number and _is_step(row)):
        return False
    if line.endswith(":") and ENDS_INSIDE.search(line):
        return False
    if line.endswith(":") or (line.isupper() and len(title) > 3):
        return True
    asks = line.endswith("?") and row.blank and ends_line(row.following) and not row.following.endswith("?")
    if not title[:1].isupper() or (ends_line(line) and not asks) or title.startswith(("I ", "I'", "I’")):
        return False
    return row.last or asks or number is not None or (row.broken and row.following[:1].isupper())


def _is_step(row: Row) -> bool:
    """Return whether a line with a number is one of a list, with no blank line between it and the next or last."""
    near = [text for text, apart in ((row.following, row.last), (row.before, row.blank)) if not apart]
    return any(re.match(r"\d", text) and BULLET.match(text) for text in near)
