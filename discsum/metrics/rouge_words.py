"""The words that rouge-score counts, their stems cached: a corpus has far fewer words than occurrences of them."""

from __future__ import annotations

import re
from functools import cache, lru_cache
from typing import Any

_WORDS = re.compile("[a-z0-9]+")
# Distinct words that are kept, of a few dozen bytes each.
KEPT = 1 << 17


def plain_words(text: str) -> list[str]:
    """Return the lower-cased words of a text: runs of letters a to z and digits, as rouge-score has it."""
    return _WORDS.findall(text.lower())


def stemmed_words(text: str) -> list[str]:
    """Return the same words' stems (Porter); words of up to three letters stay as they are, as in the ROUGE script."""
    return [stem(word) for word in plain_words(text)]


@lru_cache(KEPT)
def stem(word: str) -> str:
    """Return the stem of a word, by the stemmer of rouge-score."""
    found: str = word if len(word) <= 3 else _stemmer().stem(word)
    return found


@cache
def _stemmer() -> Any:
    from nltk.stem.porter import PorterStemmer

    return PorterStemmer()


class StemmedWords:
    """`stemmed_words` as the tokenizer of a `rouge_score.rouge_scorer.RougeScorer`."""

    def tokenize(self, text: str) -> list[str]:
        """Return the stems of a text's words."""
        return stemmed_words(text)
