"""Abbreviations whose full stop ends no sentence, by what follows them."""

from __future__ import annotations

import re

# "2 tsp. baking powder": a unit of measure after a number, before a word in lower case.
_MEASURE = re.compile(
    r"[\d¼½¾⅓⅔⅛]\s?-?(?:tsp|tbsp|oz|lbs?|qt|pt|gal|ft|yd|mi|cm|mm|km|kg|mg|ml|mins?|hrs?|secs?)\.\s+"
    r"(?=[a-z(])"
)
# "Tab. 3", "Eq. (4)", "pp. 13-14".
_REFERENCE = re.compile(
    r"\b(?:Tabs?|Eqs?|Eqn|Figs?|Secs?|Sect|Nos?|Nr|Vols?|Chs?|Chap|Arts?|Refs?|Pt|Op|Ex|pp?)\.\s*(?=[\d(\[§])"
)


def after_abbreviations(text: str) -> list[int]:
    """Return the offsets of words at which no unit begins, because the word before is an abbreviation."""
    return [match.end() for pattern in (_MEASURE, _REFERENCE) for match in pattern.finditer(text)]
