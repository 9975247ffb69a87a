"""Abbreviations whose full stop ends no sentence, by what follows them on the line."""

from __future__ import annotations

import re

from discsum.writing import LINE_ENDS

_SPACE = rf"[^\S{LINE_ENDS}]"
# Words after which a clause may begin a unit: "Boil it for 10 min. while you chop the onions."
_CLAUSE = (
    "after|although|as|because|before|but|if|since|so|that|then|though|till|unless|until|when|where|which|while|who"
)
# "2 tsp. baking powder": a unit of measure after a number, before a word in lower case.
_MEASURE = re.compile(
    rf"[\d¼½¾⅓⅔⅛]{_SPACE}?-?(?:tsp|tbsp|oz|lbs?|qt|pt|gal|ft|yd|mi|cm|mm|km|kg|mg|ml|mins?|hrs?|secs?)\.{_SPACE}+"
    rf"(?=[a-z(])(?!(?:{_CLAUSE})\b)"
)
# "Tab. 3", "Eq. (4)", "pp. 13-14"; "No. 3", but not "No. (3 did not vote.)"
_REFERENCE = re.compile(
    r"\b(?:(?:Tabs?|Eqs?|Eqn|Figs?|Secs?|Sect|Nr|Vols?|Chs?|Chap|Arts?|Refs?|Pt|Op|Ex|pp?)"
    rf"\.{_SPACE}*(?=§|[(\[]?[A-Z]?\d)|Nos?\.{_SPACE}*(?=\d))"
)


def after_abbreviations(text: str) -> list[int]:
    """Return the offsets of words at which no unit begins, because the word before is an abbreviation."""
    return [match.end() for pattern in (_MEASURE, _REFERENCE) for match in pattern.finditer(text)]
