"""The text of a run of EDUs as a sentence: capital, full stop, and both marks of a quotation."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from discsum.clause_starts import AND, CONNECTIVE, SUBJECT, VERB
from discsum.layout_patterns import LINK
from discsum.writing import ends_sentence, full_stop

_QUOTES_AT_END = "\"'”’»"
# The letter or number of an item in a list: "(a) ", "ii) ".
_MARKER = re.compile(r"\(?(?:[a-z]|[ivxlc]+|\d{1,3})\)\s+")
_FIRST_WORD = re.compile(r"[^\W_][\w'’]*")
# What follows a variable.
_OPERATOR = re.compile(r"\s*[=<>≤≥+*/^]")
_DASHES = "–—-"
_LOOSE_END = f" \t,;:{_DASHES}，、；：،؛"
# Marks of quotations and brackets: no smileys, and no quotes inside of words.
_MARK = re.compile(r"(?<!\w)\"|\"(?!\w)|[“”)\]]|(?<![^\s(\[“\"'–—-])[(\[](?=\S)")
_QUOTES = ("“", '"')
_MOST_OPEN = 50
_PUNCTUATED = re.compile('[,.!?…]+["”]')
# After a number, a quote may be the mark of an inch.
_INCH = re.compile(r"(?<=\d)\"")
_CLOSES = {"“": "”", '"': '"', "(": ")", "[": "]"}
# "And" at the end, or another conjunction or "that" that stands at the beginning or after a comma.
_CONJUNCTION = re.compile(
    rf"\b{AND.pattern}\Z|(?:\A|[,;:]\s*)(?:(?:and|but|or)\s+)?(?:{CONNECTIVE.pattern}|so|that)\Z", re.IGNORECASE
)
# Before and after a quote that opens, or closes, a quotation beyond doubt.
_OPENING, _CLOSING = re.compile(r"(?<![^\s(\[])\"(?=\w)"), re.compile(r"(?<=[\w.,!?…])\"(?!\w)")


def tidied(run: str) -> str:
    """Return the run of EDUs as a sentence; closing quotes stay outermost, as in `"so he said."`."""
    cut = len(run.rstrip(_QUOTES_AT_END))
    body, closing = run[:cut].rstrip(), run[cut:]
    if body and not ends_sentence(body):
        body = body.rstrip(_LOOSE_END) or body
        # After a comma there may be an abbreviation; a full stop would become part of an address.
        body += "" if ends_sentence(body) or LINK.fullmatch(body.split()[-1]) else full_stop(body)
    marker = _MARKER.match(body)
    word = _FIRST_WORD.search(body, marker.end() if marker else 0)
    if word is None or not _is_capitalised(word, body):
        return body + closing
    index = word.start()
    return body[:index] + body[index].title() + body[index + 1 :] + closing


def completed(run: str, before: str, after: str, earlier: str = "", later: str = "") -> str:
    """Return a run with the second mark of English quotations that a selection cuts, and of brackets that it opens.

    Args:
        run: The text of EDUs.
        before: The text of the paragraph that is left out before, in which quotations may begin.
        after: The text of the paragraph that is left out after, in which what is open may end.
        earlier: The selected text between `before` and the run.
        later: The selected text between the run and `after`.
    """
    whole = f"{earlier} {run} {later}".strip()
    if not _MARK.search(whole) or "„" in before + whole + after:
        # There “ closes.
        return run
    known = [mark for mark, _ in _scan(before, ())[0]]
    left, closed = _scan(whole, known)
    tail = [_CLOSES[mark] for mark, old in reversed(left) if not old and _CLOSES[mark] in after]
    if tail and not later:
        run = run.rstrip(_LOOSE_END) + "".join(tail)
    return run if earlier else "".join(mark for mark in closed if mark in _QUOTES) + run


@dataclass(frozen=True)
class Gap:
    """A place in a sentence where text is left out.

    Attributes:
        last: The EDU before it.
        omitted: The text that is left out.
        following: The EDU after it.
        continued: Whether both EDUs are parts of one clause.
    """

    last: str
    omitted: str
    following: str
    continued: bool


def before_gap(words: str, clause: str, gap: Gap) -> str:
    """Return the words before a gap with the marks at their end that they need without the text that is left out.

    - `The mill, | which was old, | stopped`: the comma goes.
    - `In May, | so to say, | the mill stopped` and `Ina Berg, 45, | who left, | said`: it stays.
    - `In an order | that he signed, | the judge said`: that of the omitted text is kept, but not before a verb, as in
      `A mill | that she owns, | has closed`, unless the EDU before has one.
    - `She got up | as it rained | went out`: one is added before a verb that begins a clause.
    - `"We left | because it rained," | she said`: the mark that closes the quotation is kept.
    - Colons and dashes before another clause go.

    Args:
        words: The words before the gap.
        clause: Their end, from where the clause of the EDU after the gap begins; empty if it begins after the gap.
        gap: The gap.
    """
    if gap.continued and words.endswith(",") and "," not in clause[:-1] and not SUBJECT.match(gap.following):
        return _closed(words[:-1], gap.omitted)
    words = _closed(words, gap.omitted)
    if not gap.continued:
        words = words.removesuffix(":").rstrip()
    if gap.following.startswith(tuple(_DASHES)):
        words = words.rstrip(_DASHES + " ") or words
    if VERB.match(gap.following):
        comma = not clause or ("," in gap.last and gap.omitted.rstrip().endswith((",", ";")))
    else:
        comma = gap.omitted.rstrip().endswith((",", ";"))
    return words + "," if comma and words[-1:].isalnum() and not _CONJUNCTION.search(gap.last) else words


def _closed(words: str, omitted: str) -> str:
    """Return words with the closing mark of the quotation or bracket that they begin, if it ends in the omitted text.

    It does not if another quotation begins there. A quote keeps the punctuation before it.
    """
    if not _MARK.search(omitted) or "„" in words:
        return words
    opened = [mark for mark, _ in _scan(words, ())[0]]
    left, closed = _scan(_INCH.sub("", omitted), opened)
    if not opened or opened[-1] not in closed or any(mark in _QUOTES and not known for mark, known in left):
        return words
    body, punctuated = words.rstrip(_LOOSE_END), _PUNCTUATED.search(omitted)
    if opened[-1] not in _QUOTES or punctuated is None:
        return body + _CLOSES[opened[-1]]
    return body + (punctuated[0][-1] if body.endswith(("!", "?", "…")) else punctuated[0])


def _scan(text: str, known: Sequence[str]) -> tuple[list[tuple[str, bool]], list[str]]:
    """Read the marks of a text, at whose start the `known` ones are open.

    Returns:
        The marks that are open at its end, each with whether it is one of the `known`; and those of the `known` that
        the text closes.
    """
    found, closed = [(mark, True) for mark in known], list[str]()
    for match in _MARK.finditer(text):
        mark, place = match[0], match.start()
        last = next((index for index in reversed(range(len(found))) if _CLOSES[found[index][0]] == mark), None)
        if mark == '"' and last is None and (_CLOSING.match(text, place) or text[place - 1 : place].isdigit()):
            # Its opening mark is missing, or it is an inch.
            continue
        if mark == '"' and last is not None and _OPENING.match(text, place):
            # The closing mark before it is missing.
            del found[last]
            last = None
        if last is not None:
            closed += [found[last][0]] if found[last][1] else []
            del found[last:]
        elif mark in _CLOSES:
            # Only the latest, because each mark is compared with all that are open.
            found = [*found, (mark, False)][-_MOST_OPEN:]
        elif mark in ")]":
            # Brackets of two kinds, as in half-open intervals.
            found = [one for one in found if one[0] in _QUOTES]
    return found, closed


def _is_capitalised(word: re.Match[str], text: str) -> bool:
    """Return whether the first word of a sentence gets a capital: no name such as iPhone, pH, #ramen, x or a URL."""
    named = text[: word.start()].endswith(("#", "@")) or text[word.end() : word.end() + 1] == "@"
    variable = len(word[0]) == 1 and _OPERATOR.match(text, word.end())
    return word[0].islower() and not named and not variable and not LINK.match(text, word.start())
