"""Sentence splitting by lines or by NLTK, instead of by the parser."""

from __future__ import annotations

import re

from discsum.constants import SENTENCES
from discsum.document import Span
from discsum.errors import InputError, MissingExtraError
from discsum.parsers.segmenter import spans_from


def split_sentences(text: str, splitter: str) -> list[Span]:
    """Return the sentences of `text`: `newline`, one per line; `nltk`, by NLTK's English Punkt model.

    Raises:
        InputError: An unknown splitter.
        MissingExtraError: NLTK's model is not installed.
    """
    if splitter == "newline":
        return spans_from(text, [match.start() for match in re.finditer(r"\S[^\n\r]*", text)])
    if splitter != "nltk":
        raise InputError(f"expected sentences from {', '.join(SENTENCES)}, got {splitter!r}")
    from nltk.tokenize import PunktTokenizer

    try:
        tokenizer = PunktTokenizer("english")
    except LookupError as error:
        raise MissingExtraError(
            "NLTK's sentence model is not installed. Please run: python -m nltk.downloader punkt_tab"
        ) from error
    return spans_from(text, [start for start, _ in tokenizer.span_tokenize(text)])
