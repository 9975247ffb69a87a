"""Where no unit or no sentence begins: after abbreviations, in marks of sources and in telephone numbers."""

from __future__ import annotations

import re
from collections.abc import Iterator

from discsum.writing import LINE_ENDS

_SPACE = rf"[^\S{LINE_ENDS}]"
# Words after which a clause may begin an EDU: "Boil it for 10 min. while you chop the onions."
_CLAUSE = (
    "after|although|as|because|before|but|if|since|so|that|then|though|till|unless|until|when|where|which|while|who"
)
# A unit of measure after a number.
_MEASURE = (
    rf"[\d¼½¾⅓⅔⅛]{_SPACE}?-?(?:tsp|tbsp|oz|lbs?|qt|pt|gal|ft|yd|mi|cm|mm|km|kg|mg|ml|mins?|hrs?|secs?)\.{_SPACE}+"
)
# "2 tsp. baking powder", before a word in lower case; "10 min. while you chop the onions".
_MEASURED = re.compile(rf"{_MEASURE}(?=[a-z(])(?!(?:{_CLAUSE})\b)")
_MEASURED_CLAUSE = re.compile(rf"{_MEASURE}(?=(?:{_CLAUSE})\b)")
# "Tab. 3", "Eq. (4)", "pp. 13-14"; "No. 3", but not "No. (3 did not vote.)"; "[1957] 1 W.L.R. 582"; "Cllr. Patel".
_REFERENCE = re.compile(
    r"\b(?:(?:Tabs?|Eqs?|Eqn|Figs?|Secs?|Sect|Nr|Vols?|Chs?|Chap|Arts?|Refs?|Pt|Op|Ex|pp?)"
    rf"\.{_SPACE}*(?=§|[(\[]?[A-Z]?\d)|Nos?\.{_SPACE}*(?=\d)"
    rf"|(?:Messrs|Insp|Cllr|Supt|Ald|Mlle|Mme|Sgt|Hon|Rev|Capt)\.{_SPACE}+(?=[A-Z])"
    r"(?!(?:The|They|He|She|It|We|I|An?|In|On|At|But|And|This|That|These|Those|His|Her|Their|There|When|If|As)\b))"
    rf"|\[[12]\d{{3}}\]{_SPACE}+(?=\d|[A-Z]{{2}})"
)
# "It fell.[2][3]", "it fell [sic]", "v. Berg [1957]". A number after a space may be an EDU: treebanks differ.
_SOURCE = re.compile(
    r"(?<=\S)\[(?:\d{1,3}(?:[,–-] ?\d{1,3}){0,9}|note \d{1,3}|edit)\]"
    rf"|(?<=\S){_SPACE}*\[(?:[12]\d{{3}}|citation needed|sic)\]"
)
# "Come in!" she said; "at 9 p.m. the mill", "in Feb. the lake", but not "Berg Inc. iPhones".
_CONTINUED = re.compile(
    rf"(?:[!?][\"”’]|\b(?:[ap]\.m|Jan|Feb|Mar|Apr|Aug|Sept?|Oct|Nov|Dec|Mon|Tues?|Weds?|Thu(?:rs?)?|Fri|Sat|Sun|Pls|approx"
    rf"|Ave|Blvd|Rd|etc|Inc|Ltd|Co|Corp|Jr|Sr|vs)\.){_SPACE}+(?=[a-z]+(?![^\W_]))"
)
# "+1 (415) 555-0132"
_PHONE = re.compile(r"(?:\+?\d{1,3} ?)?\(\d{2,5}\)[ -]?\d[\d -]{3,12}\d")


def no_unit_begins(text: str) -> Iterator[tuple[int, int]]:
    """Yield stretches `(start, end)` of a text; no unit begins after `start` and up to `end`, both offsets.

    They are words after an abbreviation, marks of sources, which belong to the text before, and telephone numbers.
    """
    for pattern in (_MEASURED, _REFERENCE):
        yield from ((match.end() - 1, match.end()) for match in pattern.finditer(text))
    yield from ((match.start() - 1, match.end() - 1) for match in _SOURCE.finditer(text))
    yield from ((match.start(), match.end() - 1) for match in _PHONE.finditer(text))


def no_sentence_begins(text: str) -> Iterator[tuple[int, int]]:
    """Yield stretches as `no_unit_begins` does, in which no sentence begins, although an EDU may."""
    for pattern in (_MEASURED_CLAUSE, _CONTINUED):
        yield from ((match.end() - 1, match.end()) for match in pattern.finditer(text))
