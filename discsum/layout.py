"""The layout of a text: which of its units are headings, labels, bylines, list fragments or code, and not prose.

Rules on lines, their length, white space and punctuation decide, not a model: what a reader sees before reading.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, replace

from discsum.writing import BLANK_LINE, LINE_ENDS, WORD, ends_sentence

HEADING, LABEL, BYLINE, LIST, CODE, BODY = KINDS = ("heading", "label", "byline", "list", "code", "body")
# A heading has at most `HEADING_WORDS` words, a list fragment fewer than `FRAGMENT_WORDS`.
HEADING_WORDS, FRAGMENT_WORDS = 12, 6
# Lines with a speaker label from which a text counts as a conversation.
TURNS = 3

_LINE = re.compile(rf"[^{LINE_ENDS}]+")
_FENCE = re.compile(r"`{3,}+(?!.*`)|~{3,}")
_NUMBER = r"\d{1,3}[.)]|\d{1,3}(?:\.\d{1,3})+[.)]?|[A-Za-z][.)]|\((?:\d{1,3}|[A-Za-z]|[ivxlc]+)\)|§ ?\d+"
_BULLET = re.compile(rf"(?:[-*+•‣◦▪●–—·]|{_NUMBER})(?=\s|$)")
_MARKDOWN_HEADING = re.compile(r"#{1,6}\s+\S")
_RULE = re.compile(r"([-=*_~])\1{2,}+(?:.*\1{3})?")
_TABLE = re.compile(r"\|.*\||[^\t]+\t[^\t]+\t|\+[-=]{2,}\+")
_CODE = re.compile(r"[{};]$|^(?:\$|>>>|#!|//) ?|^(?:import|from|def|return|function|var|let|const)\b.*[=(.:;]")
_CALL = re.compile(r"\w\(")
_TIME = r"\[?\d{1,2}[:.]\d{2}(?:[:.]\d{2})?(?: ?[AaPp][Mm])?\]?"
_NAME = r"[A-Z][\w.'’-]*(?: (?:(?:of|de|van|von) )?[A-Z(][\w.'’)-]*){0,3}"
_SPEAKER = re.compile(rf"(?:{_TIME}\s+)?(?:<{_NAME}>|{_NAME}(?:\s*[(\[]{_TIME}[)\]])?\s*:)(?=\s|$)")
# Repetitions are bounded, as in every pattern here that could look far ahead: a text may have thousands of brackets
# that are never closed. Each character matches one alternative only: with two, every character would double the time.
_LINK = re.compile(
    r"!?\[(?:[^\[\]]|\[[^\]]{0,300}\]\([^)]{0,300}\)){0,300}\](?:\([^)]{0,300}\)|:\s*\S+)?|(?:https?://|www\.)\S+"
)
# Names, addresses and titles: all words begin with capitals or digits.
_NAMES = re.compile(r"(?:[A-Z(\d][\w.,'’()&:/-]*|and|of|&|for)(?:\s+(?:[A-Z(\d][\w.,'’()&:/-]*|and|of|the|&|for))*")
_FURNITURE = re.compile(
    r"(?:\d+ \w+ )?(?:Read more|Read also|See also|Related|Share (?:this|on)|View (?:all )?comments|Back to top|"
    r"Follow us|Sign up|Subscribe|Advertisement|Click here|Skip to|Scroll down)\b|\w+ has (?:joined|left) the \w+"
)
_REFERENCES = re.compile(
    r"\W*(?:\d+\.? )?(?:References|Bibliography|Works [Cc]ited|Literature|REFERENCES|BIBLIOGRAPHY)\W*"
)
_HEADER = re.compile(
    r"(?:From|To|[Cc][Cc]|Bcc|Encl?\.?|Subject|Date|Sent|Reply-To|R[Ee]|Fwd|Attachments?|Location|Venue|Time|Where|When|"
    r"Next meeting|Attendees|Present|Apologies|Chair|Tags|Keywords|Serves|Servings|Prep time|Cook time)\s*:\s"
)
_MONTH = r"(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]*\.?"
_DATE = (
    r"(?:(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]*,? )?"
    rf"(?:\d{{1,2}}(?:st|nd|rd|th)? (?:of )?{_MONTH}(?:,? \d{{4}})?|{_MONTH} \d{{1,2}}(?:st|nd|rd|th)?(?:,? \d{{4}})?"
    r"|\d{4}-\d\d-\d\d|\d{1,2}[/.]\d{1,2}[/.]\d{2,4})"
)
_BYLINE = re.compile(
    "|".join(
        (
            # By Jane Doe and John Roe, Staff Writers
            r"(?:(?:Words |Story |Written |Reported |Posted )?[Bb]y|BY)\b"
            r"(?:[\s.,|&]++(?:[A-Z][\w.'’-]*+|and|for|in|of|the))++[\s.]*",
            # PUBLISHED: 05:47 GMT, 3 March 2024
            r"(?:PUBLISHED|UPDATED|(?:First )?[Pp]ublished|Updated|Posted|Created|Last (?:updated|modified|edited))\b"
            r"[\s:.,]*(?:on )?[^a-z]*\d.*",
            rf"{_DATE}(?:,? (?:at )?{_TIME}(?: [A-Z]{{2,4}})?)?[.,]?",
            # HARBOURTON, March 3 (Agency) -
            rf"[A-Z][A-Z .,’'-]+(?:,? {_DATE})?(?: ?\([A-Z][\w ]+\))?(?:,? {_DATE})?\s*[-–—]+",
            r"\([A-Z][A-Za-z ]+\)\s*[-–—]*",
            r"\((?:Reporting|Writing|Editing|Additional reporting|Photo)\b[^)]*\)\.?",
        )
    )
)
# Characters of a byline, at most.
_LONGEST_BYLINE = 200
# A footnote's number after the full stop.
_NOTE = re.compile(r"(?:\s*\[\d+\])+$")


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
        self.conversation = sum(line.speaker for line in self.lines) >= TURNS
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
        return BODY if has_content(unit) else LABEL


def _is_said(line: Line) -> bool:
    """Return whether a line looks like a heading, but is what somebody says after a speaker label."""
    return line.speaker and line.kind == HEADING and line.content < line.end


def has_content(text: str) -> bool:
    """Return whether a text has at least two words, not counting digits, punctuation and links."""
    return len(WORD.findall(_LINK.sub("", text))) > 1


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
        following: The text of the next line.
    """

    start: int
    text: str
    indent: int
    blank: bool
    meant: bool
    last: bool
    broken: bool
    following: str


def _rows(text: str) -> list[_Row]:
    found = [match for match in _LINE.finditer(text) if match[0].strip()]
    texts = [match[0].strip() for match in found]
    width = max(map(len, texts), default=0)
    rows: list[_Row] = []
    for place, (match, line) in enumerate(zip(found, texts, strict=True)):
        indent = len(match[0]) - len(match[0].lstrip())
        before = texts[place - 1] if place else ""
        blank = not place or BLANK_LINE.search(text, found[place - 1].end() - 1, match.start() + indent) is not None
        # In a wrapped paragraph, a line's first word did not fit into the line before.
        meant = blank or _ends(before) or len(before) + 1 + len(line.split()[0]) < width
        following = texts[place + 1] if place + 1 < len(texts) else ""
        last = not following or BLANK_LINE.search(text, match.end() - 1, found[place + 1].end()) is not None
        broken = last or len(line) + 1 + len(following.split()[0]) < width
        columns = len(match[0][:indent].expandtabs(4))
        rows.append(_Row(match.start() + indent, line, columns, blank, meant, last, broken, following))
    return rows


def _is_byline(line: str) -> bool:
    # The time of some patterns is quadratic in the length.
    return len(line) <= _LONGEST_BYLINE and _BYLINE.fullmatch(line) is not None


def _lines(text: str) -> list[Line]:
    lines: list[Line] = []
    references, fence = False, ""
    for row in _rows(text):
        mark = _FENCE.match(row.text)
        bullet, speaker = (pattern.match(row.text) if row.meant else None for pattern in (_BULLET, _SPEAKER))
        kind = CODE if mark or fence else _line_kind(row, bullet, speaker)
        if not fence:
            fence = mark[0] if mark else ""
        elif mark and mark[0] == row.text and mark[0].startswith(fence):
            # Inside a block, shorter fences and those with a language are code.
            fence = ""
        if kind == HEADING:
            references = _REFERENCES.fullmatch(row.text) is not None
        elif references:
            kind = LIST
        marker = bullet or speaker if kind != CODE else None
        after_other = bool(lines) and lines[-1].kind not in (BODY, kind)
        opens = row.meant and (kind not in (BODY, CODE) or after_other or marker is not None)
        content = row.start + (marker.end() if marker else 0)
        is_turn = speaker is not None and marker is speaker
        lines.append(Line(row.start, row.start + len(row.text), kind, content, is_turn, opens, row.blank))
    return lines


def _is_code(line: str) -> bool:
    return bool(_CODE.search(line) or (line.endswith(")") and _CALL.search(line[:-1])))


def _line_kind(row: _Row, bullet: re.Match[str] | None, speaker: re.Match[str] | None) -> str:
    line = row.text
    if _TABLE.match(line) or (row.indent >= 4 and _is_code(line)):
        return CODE
    if _RULE.fullmatch(line) or not WORD.search(_LINK.sub("", line)):
        return LABEL
    if _is_byline(line):
        return BYLINE
    if _REFERENCES.fullmatch(line):
        return HEADING
    if row.meant and (_HEADER.match(line) or _FURNITURE.match(line)):
        return LABEL
    if speaker and speaker.end() == len(line) and not _BULLET.match(row.following):
        return LABEL
    if _is_heading(row, bullet):
        return HEADING
    return _fragment(row, bullet) if row.meant and row.broken else BODY


def _fragment(row: _Row, bullet: re.Match[str] | None) -> str:
    """Return the kind of a line that stands alone: names, a short item, a clause of the sentence above, or prose."""
    content = row.text[bullet.end() :].strip() if bullet else row.text
    words = len(content.split())
    if _NAMES.fullmatch(content) and words <= HEADING_WORDS:
        return LABEL
    # "(a) the goods are damaged;"
    clause = bullet is not None and content[:1].islower() and (bullet[0][-1] == ")" or content.endswith((";", ",")))
    short = len(WORD.findall(content)) < FRAGMENT_WORDS and not _ends(content)
    return LIST if short or (clause and words <= HEADING_WORDS) else BODY


def _is_heading(row: _Row, bullet: re.Match[str] | None) -> bool:
    """Return whether a line is short, begins like a title, lacks final punctuation, and is not wrapped."""
    line = row.text
    if _MARKDOWN_HEADING.match(line) or re.fullmatch(r"={3,}|-{3,}", row.following):
        return True
    number = bullet if bullet and bullet[0][0].isdigit() else re.match(r"\d{1,2}(?=\s+[A-Z])", line)
    title = line[number.end() :].strip() if number else line
    if not row.meant or not row.following or len(line.split()) > HEADING_WORDS or (bullet and not number):
        return False
    if line.endswith(":") or (line.isupper() and len(title) > 3):
        return True
    asks = line.endswith("?") and row.blank and _ends(row.following) and not row.following.endswith("?")
    if not title[:1].isupper() or (_ends(line) and not asks) or title.startswith(("I ", "I'", "I’")):
        return False
    return row.last or asks or number is not None or (row.broken and row.following[:1].isupper())


def _ends(line: str) -> bool:
    return ends_sentence(_NOTE.sub("", line[-100:]), also=":;")
