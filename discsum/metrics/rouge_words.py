"""Tokenisation and stemming as in rouge-score, with a cache of stems."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache, lru_cache
from typing import Any

_WORDS = re.compile("[a-z0-9]+")
_CACHED_WORDS = 1 << 17


def plain_words(text: str) -> list[str]:
    """Return the lower-cased words of a text: runs of the letters a to z and of digits, as in rouge-score."""
    return _WORDS.findall(text.lower())


def lacks_words(texts: Sequence[str]) -> bool:
    """Return whether texts have letters, but no words that ROUGE counts, such as texts in Cyrillic script."""
    return not any(_WORDS.search(text.lower()) for text in texts) and any(map(str.isalpha, "".join(texts)))


def stemmed_words(text: str) -> list[str]:
    """Return the Porter stems of the words; words of up to three letters are not stemmed, as in the ROUGE script."""
    return [stem(word) for word in plain_words(text)]


@lru_cache(_CACHED_WORDS)
def stem(word: str) -> str:
    """Return the stem of a word as rouge-score computes it."""
    found: str = word if len(word) <= 3 else _stemmer().stem(word)
    return found


@cache
def _stemmer() -> Any:
    from nltk.stem.porter import PorterStemmer

    return PorterStemmer()
