"""Sentence splitting by rule or by NLTK, for texts whose sentences are not to be the model's."""

from __future__ import annotations

import re

from discsum.constants import SENTENCES
from discsum.document import Span
from discsum.errors import InputError, MissingExtraError
from discsum.parsers.segmenter import spans_from


def split_sentences(text: str, splitter: str) -> list[Span]:
    """Return the sentences of `text`: `newline`, one a line; `nltk`, NLTK's English Punkt model.

    Raises:
        InputError: An unknown splitter.
        MissingExtraError: NLTK's model is not installed; the message is the command that installs it.
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
