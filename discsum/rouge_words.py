"""The words that rouge-score counts, each stemmed once."""

from __future__ import annotations

import re
from functools import cache, lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from nltk.stem.porter import PorterStemmer

_WORD = re.compile(r"[a-z0-9]+")


class RougeWords:
    """A tokenizer for `rouge_score.RougeScorer`, equal to its own with `use_stemmer`."""

    def tokenize(self, text: str) -> list[str]:
        """Return the words of a text."""
        return [stem(word) for word in plain_words(text)]


def plain_words(text: str) -> list[str]:
    """Return the lower-cased words of a text: runs of letters a to z and digits, as rouge-score has it."""
    return _WORD.findall(text.lower())


@lru_cache(maxsize=200_000)
def stem(word: str) -> str:
    """Return a word's stem (Porter); words of up to three letters stay as they are, as in the ROUGE script."""
    if len(word) <= 3:
        return word
    result: str = _stemmer().stem(word)
    return result


@cache
def _stemmer() -> PorterStemmer:
    # Imported when it is needed: nltk takes as long to load as the rest of the package.
    from nltk.stem.porter import PorterStemmer

    return PorterStemmer()
