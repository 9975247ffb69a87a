"""Tokenisation and stemming as in rouge-score, with a cache of stems."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from functools import cache, lru_cache
from typing import Any

_WORDS = re.compile("[a-z0-9]+")
# Words that are enough for a share of them to mean something.
_FEW_WORDS = 200
_ANY_WORDS = re.compile(r"[^\W\d_]+")
_CACHED_WORDS = 1 << 17
# NLTK's stems of words that other versions of Porter's algorithm stem differently, and of some others.
_PROBES = {
    "skies": "sky",
    "dying": "die",
    "flies": "fli",
    "spied": "spi",
    "news": "news",
    "innings": "inning",
    "enjoys": "enjoy",
    "happily": "happili",
    "exceeding": "exceed",
    "generalizations": "gener",
    "1990s": "1990",
}


def plain_words(text: str) -> list[str]:
    """Return the lower-cased words of a text: runs of the letters a to z and of digits, as in rouge-score."""
    return _WORDS.findall(text.lower())


def are_dropped(texts: Sequence[str]) -> bool:
    """Return whether most letters of texts are others than a to z, which ROUGE drops, as in Cyrillic script."""
    letters = [letter for letter in "".join(texts).lower() if letter.isalpha()]
    return sum(map(str.isascii, letters)) < 0.5 * len(letters)


def share_dropped(texts: Iterable[str]) -> float:
    """Return the share in [0, 1] of the words in texts that have letters other than a to z, which ROUGE drops.

    It is 0 for texts of few words, in which a name or two may be many.
    """
    every = dropped = 0
    for text in texts:
        words = _ANY_WORDS.findall(unicodedata.normalize("NFC", text))
        every += len(words)
        dropped += sum(not word.isascii() for word in words)
    return dropped / every if every >= _FEW_WORDS else 0.0


def stemmed_words(text: str) -> list[str]:
    """Return the Porter stems of the words; words of up to three letters are not stemmed, as in the ROUGE script."""
    return [stem(word) for word in plain_words(text)]


@lru_cache(_CACHED_WORDS)
def stem(word: str) -> str:
    """Return the stem of a word of `plain_words` as rouge-score computes it."""
    return word if len(word) <= 3 else _stemmer()(word)


@cache
def _stemmer() -> Callable[[str], str]:
    """Return NLTK's Porter stemmer, or that of rouge-score-rs if it is installed and gives the same stems.

    Importing NLTK takes a second or more.
    """
    # Another version may have other names or arguments.
    with suppress(ImportError, AttributeError, TypeError):
        from rouge_score_rs import tokenizers

        module: Any = tokenizers
        tokenize = module.DefaultTokenizer(use_stemmer=True).tokenize
        if tokenize(" ".join(_PROBES)) == [*_PROBES.values()]:
            return lambda word: str((tokenize(word) or [word])[0])
    from nltk.stem.porter import PorterStemmer

    nltk_stem: Callable[[str], str] = PorterStemmer().stem
    return nltk_stem
