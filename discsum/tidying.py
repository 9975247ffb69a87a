"""The text of a run of EDUs as a sentence: capital, full stop, and both marks of a quotation."""

from __future__ import annotations

import re

from discsum.layout_patterns import LINK
from discsum.writing import ends_sentence, full_stop

_QUOTES_AT_END = re.compile(r"[\"'”’»]*$")
# The letter or number of an item in a list: "(a) ", "ii) ".
_MARKER = re.compile(r"\(?(?:[a-z]|[ivxlc]+|\d{1,3})\)\s+")
_FIRST_WORD = re.compile(r"[^\W_][\w'’]*")
# What follows a variable.
_OPERATOR = re.compile(r"\s*[=<>≤≥+*/^]")
# Marks that open quotations and brackets, and marks that close them; neither smileys nor inches. `"` may be either.
_OPENING, _CLOSING = re.compile(r"“|(?<![^\s(\[“\"'–—-])[\"(\[](?=\S)"), re.compile(r"”|(?<=\S)[\")\]]")
_CLOSES = {"“": "”", '"': '"', "(": ")", "[": "]"}
_LOOSE_END = " \t,;:–—-，、；：،؛"


def tidied(run: str) -> str:
    """Return the run of EDUs as a sentence; closing quotes stay outermost, as in `"so he said."`.

    Quotations and brackets that end, or quotations that begin, in an EDU outside the run do so with the run.
    """
    run = _with_pairs(run)
    quotes = _QUOTES_AT_END.search(run)
    cut = quotes.start() if quotes else len(run)
    body, closing = run[:cut].rstrip(), run[cut:]
    if body and not ends_sentence(body):
        body = body.rstrip(_LOOSE_END) or body
        # A full stop would become part of the address.
        body += "" if LINK.fullmatch(body.split()[-1]) else full_stop(body)
    marker = _MARKER.match(body)
    word = _FIRST_WORD.search(body, marker.end() if marker else 0)
    if word is None or not _is_capitalised(word, body):
        return body + closing
    index = word.start()
    return body[:index] + body[index].title() + body[index + 1 :] + closing


def _with_pairs(run: str) -> str:
    """Return the run with the closing marks that it lacks at its end, and opening quotes at its beginning."""
    if "„" in run:
        # There “ closes.
        return run
    lacking, unclosed = "", list[str]()
    for place, mark in enumerate(run):
        if unclosed and mark == _CLOSES[unclosed[-1]] and _CLOSING.match(run, place):
            unclosed.pop()
        elif _OPENING.match(run, place):
            unclosed.append(mark)
        elif mark == "”" or (mark == '"' and _CLOSING.match(run, place)):
            # Not inches.
            lacking += "" if run[place - 1].isdigit() else "“" if mark == "”" else mark
    if not unclosed:
        return lacking + run
    return lacking + run.rstrip(_LOOSE_END) + "".join(_CLOSES[mark] for mark in reversed(unclosed))


def _is_capitalised(word: re.Match[str], text: str) -> bool:
    """Return whether the first word of a sentence gets a capital: no name such as iPhone, pH, #ramen, x or a URL."""
    named = text[: word.start()].endswith(("#", "@")) or text[word.end() : word.end() + 1] == "@"
    variable = len(word[0]) == 1 and _OPERATOR.match(text, word.end())
    return word[0].islower() and not named and not variable and not LINK.match(text, word.start())
