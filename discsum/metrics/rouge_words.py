"""The words that rouge-score counts."""

from __future__ import annotations

from functools import cache
from typing import Any


def plain_words(text: str) -> list[str]:
    """Return the lower-cased words of a text: runs of letters a to z and digits, as rouge-score has it."""
    found: list[str] = _tokenizer(stemmed=False).tokenize(text)
    return found


def stemmed_words(text: str) -> list[str]:
    """Return the same words' stems (Porter); words of up to three letters stay as they are, as in the ROUGE script."""
    found: list[str] = _tokenizer(stemmed=True).tokenize(text)
    return found


@cache
def _tokenizer(*, stemmed: bool) -> Any:
    from rouge_score_rs import tokenizers

    untyped: Any = tokenizers
    return untyped.DefaultTokenizer(use_stemmer=stemmed)
