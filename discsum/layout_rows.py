"""The lines of a text as it is written, and which line breaks wrap a paragraph."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import pairwise

from discsum.layout_patterns import BULLET, CELL, CONNECTING, CUE, DANGLING, HYPHENATED, LINE, SPEAKER
from discsum.writing import BLANK_LINE, ends_sentence

# Characters of the longest line, at most, of a text in narrow columns.
NARROW = 60
# Spaces between the cells of a table, and the least number of cells, but the first, that are aligned in its rows.
WIDE_SPACE, ALIGNED = "  ", 2


@dataclass(frozen=True, slots=True)
class Row:
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
        table: Whether it is a row of a table whose columns are aligned by spaces.
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
    table: bool


def rows_of(text: str) -> list[Row]:
    """Return the lines of a text that are not blank."""
    found = [match for match in LINE.finditer(text) if match[0].strip()]
    texts = [match[0].strip() for match in found]
    # Addresses may be longer than wrapped lines.
    width = max((len(line) for line in texts if " " in line), default=0)
    blanks = [
        not place or BLANK_LINE.search(text, found[place - 1].end() - 1, found[place].end()) is not None
        for place in range(len(found))
    ]
    tables = _table_rows([match[0].rstrip() for match in found])
    # Whether the break before each line, and the one after the last, wraps a paragraph.
    wraps = [*_wraps(texts, blanks, width, _apart(texts) | tables), False]
    rows: list[Row] = []
    for place, (match, line) in enumerate(zip(found, texts, strict=True)):
        indent = len(match[0]) - len(match[0].lstrip())
        before = texts[place - 1] if place else ""
        following = texts[place + 1] if place + 1 < len(texts) else ""
        blank, last = blanks[place], not following or blanks[place + 1]
        meant = blank or ends_line(before) or not wraps[place]
        broken = last or not wraps[place + 1]
        columns = len(match[0][:indent].expandtabs(4))
        start, table = match.start() + indent, place in tables
        rows.append(Row(start, line, columns, blank, meant, last, broken, before, following, table))
    return rows


def ends_line(line: str) -> bool:
    """Return whether a line ends as a sentence does, or with a colon or semicolon."""
    return ends_sentence(line, also=":;")


def _wraps(texts: Sequence[str], blanks: Sequence[bool], width: int, apart: Collection[int]) -> list[bool]:
    """Return for each line whether the break before it wraps a paragraph; `width` is that of the longest line.

    The line before has no room for the first word, or ends inside a word; or, in a text of narrow lines, which are
    seldom full, the sentence goes on. The breaks before the lines of `apart` wrap none.
    """
    narrow = _narrow_prose(texts, blanks) if width <= NARROW else frozenset()
    return [False] * bool(texts) + [
        HYPHENATED.fullmatch(f"{before[-2:]}{line[:1]}") is not None
        or (
            place not in apart
            and (len(before) + 1 + len(line.split()[0]) >= width or (place in narrow and _goes_on(before, line)))
        )
        for place, (before, line) in enumerate(pairwise(texts), start=1)
    ]


def _apart(texts: Sequence[str]) -> frozenset[int]:
    """Return the lines that begin a list item like one beside them, the times of subtitles, and what follows these."""
    markers = [_marker(line) for line in texts]
    found = set[int]()
    for place, (marker, following) in enumerate(pairwise(markers)):
        if marker and marker == following:
            found |= {place, place + 1}
    cues = {place for place, line in enumerate(texts) if CUE.match(line)}
    return frozenset(found | cues | {place + 1 for place in cues})


def _table_rows(lines: Sequence[str]) -> frozenset[int]:
    """Return the lines whose cells, but the first, begin or end where cells of a line beside them do.

    Lines that end as a sentence does are not among them.
    """
    cells = [[*CELL.finditer(line)] if WIDE_SPACE in line and not ends_sentence(line) else [] for line in lines]
    rows = set[int]()
    for place, (above, below) in enumerate(pairwise(cells)):
        starts, ends = ({side(cell) for cell in above[1:]} for side in (re.Match.start, re.Match.end))
        # Justified text has wide spaces too, but only its last cells end in the same place.
        aligned = sum(cell.start() in starts or (cell.end() in ends and cell[0][-1].isdecimal()) for cell in below[1:])
        if aligned >= max(ALIGNED, min(len(above), len(below)) - 2):
            rows |= {place, place + 1}
    return frozenset(rows)


def _marker(line: str) -> str:
    """Return the kind of a line's bullet or number; empty if it has none."""
    bullet = BULLET.match(line)
    return "" if bullet is None else re.sub(r"\d+|\w+", lambda part: "1" if part[0].isdecimal() else "a", bullet[0])


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
        if begins and ends_sentence(paragraph[-1]) and not marked and not any(map(ends_line, paragraph[:-1])):
            lines.update(range(first + 1, after))
    return frozenset(lines)


def _goes_on(line: str, following: str) -> bool:
    """Return whether the sentence of a line goes on in the following one, by a function word beside the break."""
    *_, last = line.split()
    first, *_ = following.split()
    return last in DANGLING or (first[:1].islower() and (last.lower() in CONNECTING or first in CONNECTING))
