"""The lines of a text as it is written, and which line breaks wrap a paragraph."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate, groupby, pairwise

from discsum.layout_patterns import (
    BULLET,
    CELL,
    CONNECTING,
    CUE,
    DANGLING,
    HYPHENATED,
    LINE,
    MARKDOWN_HEADING,
    SOURCE,
    SPEAKER,
)
from discsum.writing import BLANK_LINE, ends_sentence

# Characters of the longest line, at most, of a text in narrow columns.
NARROW = 60
# Share of the width that the lines of an evenly wrapped paragraph have.
EVEN = 0.7
# Spaces between the cells of a table, fewest cells of a row, and fewest words in lower case that make a cell prose.
WIDE_SPACE, FEWEST_CELLS, PROSE_WORDS = "  ", 3, 5
# Lines with a speaker label from which a text may be a conversation.
TURNS = 3
# Most words of a heading above notes, as "Notes and references".
NOTES_HEADING_WORDS = 3
# Bullets with which lines of prose do not begin, unlike dashes.
BULLETS = frozenset("-*+•‣◦▪●")


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
        subtitle: Whether it follows the time of a subtitle in its paragraph.
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
    subtitle: bool


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
    tables, subtitles = _table_rows([match[0].rstrip() for match in found]), _subtitles(texts, blanks)
    indents = [len(match[0]) - len(match[0].lstrip()) for match in found]
    hanging = _hanging(texts, blanks, indents)
    # Whether the break before each line, and the one after the last, wraps a paragraph.
    wraps = [*_wraps(texts, blanks, width, _apart(texts, blanks, hanging) | tables, hanging), False]
    rows: list[Row] = []
    for place, (match, line) in enumerate(zip(found, texts, strict=True)):
        indent = indents[place]
        before = texts[place - 1] if place else ""
        following = texts[place + 1] if place + 1 < len(texts) else ""
        blank, last = blanks[place], not following or blanks[place + 1]
        meant = blank or ends_line(before) or not wraps[place]
        broken = last or not wraps[place + 1]
        columns = len(match[0][:indent].expandtabs(4))
        start, table, subtitle = match.start() + indent, place in tables, place in subtitles
        rows.append(Row(start, line, columns, blank, meant, last, broken, before, following, table, subtitle))
    return rows


def ends_line(line: str) -> bool:
    """Return whether a line ends as a sentence does, or with a colon or semicolon."""
    return ends_sentence(line, also=":;")


def _wraps(
    texts: Sequence[str], blanks: Sequence[bool], width: int, apart: Collection[int], hanging: Collection[int]
) -> list[bool]:
    """Return for each line whether the break before it wraps a paragraph; `width` is that of the longest line.

    The line before has no room for the first word, or ends inside a word; or, in a text of narrow lines, which are
    seldom full, the sentence goes on; or the line begins with a citation. The breaks before the lines of `apart` wrap
    none, those before `hanging` lines do.
    """
    narrow = _narrow_prose(texts, blanks) if width <= NARROW else frozenset()
    pairs = list(enumerate(pairwise(texts), start=1))
    full = {place for place, (before, line) in pairs if len(before) + 1 + len(line.split()[0]) >= width}
    if sum(not blanks[place] for place in full) == 1:
        # There is always a longest line. Alone it shows no width: the paragraph must look like prose, or the sentence
        # must go on.
        prose = _likely_prose(texts, blanks, width)
        full = {place for place in full if place in prose or _may_go_on(texts[place - 1], texts[place])}
    begins = _paragraph_starts(blanks)
    return [False] * bool(texts) + [
        _divides_word(before, line)
        or place in hanging
        or (
            place not in apart
            and (place in full or (place in narrow and _goes_on(before, line)) or _cites(texts[begins[place]], line))
        )
        for place, (before, line) in pairs
    ]


def _cites(first: str, line: str) -> bool:
    """Return whether a line begins with a citation, "[3]", and not with the number of a note.

    The first line of a paragraph of notes has such a number too, or is a heading.
    """
    if not SOURCE.match(line) or SOURCE.match(first):
        return False
    return len(first.split(maxsplit=NOTES_HEADING_WORDS)) > NOTES_HEADING_WORDS


def _divides_word(line: str, following: str) -> bool:
    """Return whether a line break divides a word; single words with a hyphen may be the items of a list."""
    divided = HYPHENATED.fullmatch(f"{line[-2:]}{following[:1]}") is not None
    return divided and " " in line and not BULLET.match(following)


def _hanging(texts: Sequence[str], blanks: Sequence[bool], indents: Sequence[int]) -> frozenset[int]:
    """Return the lines that continue the item of a list: in lower case, and indented more than the item's bullet."""
    found = set[int]()
    item: int | None = None
    for place, (text, blank, indent) in enumerate(zip(texts, blanks, indents, strict=True)):
        if BULLET.match(text):
            item = indent
        elif blank or item is None or indent <= item or not text[:1].islower():
            item = None
        else:
            found.add(place)
    return frozenset(found)


def _apart(texts: Sequence[str], blanks: Sequence[bool], hanging: Collection[int]) -> frozenset[int]:
    """Return the lines that begin items of a list or turns, headings, times of subtitles, and what follows these.

    A list has several items, whose bullets or numbers are of one kind. In prose, lines may happen to begin with a dash,
    an initial or a number, so a list with these begins a paragraph, or follows a line that ends or another list.
    """
    found = set[int]()
    first = 0
    markers: list[str] = []
    for place, text in enumerate(texts):
        markers.append(markers[-1] if place in hanging else _marker(text))
    for marker, run in groupby(markers):
        after = first + len([*run])
        begins = marker in BULLETS or blanks[first] or ends_line(texts[first - 1]) or first - 1 in found
        if marker and after - first > 1 and begins:
            found.update(range(first, after))
        first = after
    starts = _paragraph_starts(blanks)
    turns = {
        place
        for place, line in enumerate(texts)
        if SPEAKER.match(line) and (SPEAKER.match(texts[starts[place]]) or ends_line(texts[place - 1]))
    }
    found |= turns if len(turns) >= TURNS else set()
    found |= {place for place, line in enumerate(texts) if MARKDOWN_HEADING.match(line)}
    cues = {place for place, line in enumerate(texts) if CUE.match(line)}
    return frozenset((found | cues | {place + 1 for place in cues}) - {*hanging})


def _subtitles(texts: Sequence[str], blanks: Sequence[bool]) -> frozenset[int]:
    """Return the lines between the time of a subtitle and the next blank line."""
    found, inside = set[int](), False
    for place, (text, blank) in enumerate(zip(texts, blanks, strict=True)):
        inside = inside and not blank
        if inside:
            found.add(place)
        inside = inside or CUE.match(text) is not None
    return frozenset(found)


def _table_rows(lines: Sequence[str]) -> frozenset[int]:
    """Return the rows of tables whose columns are aligned by spaces.

    These are lines of three cells or more that begin, or as numbers end, where those of a line beside them do. A line
    whose last cell is a sentence or part of one is prose, as in the log of a chat.
    """
    cells = [[*CELL.finditer(line)] if WIDE_SPACE in line and _is_row(line) else [] for line in lines]
    rows = set[int]()
    for place, (above, below) in enumerate(pairwise(cells)):
        if len(above) == len(below) >= FEWEST_CELLS and all(map(_are_aligned, above[1:], below[1:])):
            rows |= {place, place + 1}
    return frozenset(rows)


def _is_row(line: str) -> bool:
    """Return whether the last cell of a line is no sentence and no part of one."""
    last = [*CELL.finditer(line)][-1][0].split()
    return not ends_sentence(line) and sum(word.islower() for word in last) < PROSE_WORDS


def _are_aligned(above: re.Match[str], below: re.Match[str]) -> bool:
    number = below[0][-1].isdecimal()
    return above.start() == below.start() or (number and above.end() == below.end())


def _marker(line: str) -> str:
    """Return the kind of a line's bullet or number; empty if it has none. The bullets of a list may differ."""
    bullet = BULLET.match(line)
    if bullet is not None and bullet[0] in BULLETS:
        return "-"
    return "" if bullet is None else re.sub(r"\d+|\w+", lambda part: "1" if part[0].isdecimal() else "a", bullet[0])


def _narrow_prose(texts: Sequence[str], blanks: Sequence[bool]) -> frozenset[int]:
    """Return the lines, but the first, of paragraphs that begin and end as sentences do, and have no other end inside.

    Lists do not end like that.
    """
    lines: set[int] = set()
    for first, after in _paragraphs(blanks):
        paragraph = texts[first:after]
        marked = any(BULLET.match(line) or SPEAKER.match(line) for line in paragraph if not _cites(paragraph[0], line))
        begins = paragraph[0][:1].isupper() or not paragraph[0][:1].isalnum()
        if begins and ends_sentence(paragraph[-1]) and not marked and not any(map(ends_line, paragraph[:-1])):
            lines.update(range(first + 1, after))
    return frozenset(lines)


def _likely_prose(texts: Sequence[str], blanks: Sequence[bool], width: int) -> frozenset[int]:
    """Return the lines, but the first, of paragraphs that end as a sentence, or of three lines or more are even.

    In an even paragraph, all lines but the last one are nearly full.
    """
    lines: set[int] = set()
    for first, after in _paragraphs(blanks):
        even = after - first > 2 and min(map(len, texts[first : after - 1])) >= EVEN * width
        if even or ends_sentence(texts[after - 1]):
            lines.update(range(first + 1, after))
    return frozenset(lines)


def _paragraph_starts(blanks: Sequence[bool]) -> list[int]:
    """Return for each line the first line of its paragraph."""
    return [*accumulate((place if blank else 0 for place, blank in enumerate(blanks)), max)]


def _paragraphs(blanks: Sequence[bool]) -> Iterable[tuple[int, int]]:
    """Return the first line of each paragraph and the line after it."""
    return pairwise([*(place for place, blank in enumerate(blanks) if blank), len(blanks)])


def _may_go_on(line: str, following: str) -> bool:
    """Return whether the sentence of a line can go on in the following one."""
    return not following[:1].isupper() or line.split()[-1].lower() in CONNECTING


def _goes_on(line: str, following: str) -> bool:
    """Return whether the sentence of a line goes on in the following one, by a function word beside the break."""
    *_, last = line.split()
    first, *_ = following.split()
    return last in DANGLING or (first[:1].islower() and (last.lower() in CONNECTING or first in CONNECTING))
