"""Query-focused summaries: units that are similar to the query get higher scores."""

from __future__ import annotations

import re
from unicodedata import normalize

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from discsum.document import Document
from discsum.inference import inference
from discsum.parsers.parser import Parser
from discsum.parsers.parsing import encoding
from discsum.parsers.reading import SUBWORDS
from discsum.scoring import ParsedDocument, Scores
from discsum.selection import unit_texts
from discsum.text_checks import ENGLISH
from discsum.writing import FUNCTION_WORDS, is_inside_word

# Weight of the similarity in a combined score, chosen on 200 validation documents: docs/summaries.md.
SHARE = 0.75
_WORD = re.compile(r"\w+")
# Words of an English question that say nothing about its subject. Not a library's stop list: those also have content
# words such as fire and system.
_FUNCTION_WORDS = FUNCTION_WORDS | {
    *("a", "all", "also", "am", "an", "any", "as", "because", "before", "being", "between", "can", "did", "do", "does"),
    *("how", "i", "if", "in", "many", "may", "me", "might", "most", "much", "must", "my", "no", "on", "or", "our", "s"),
    *("shall", "so", "some", "such", "tell", "them", "then", "us", "was", "where", "while", "whom", "whose", "why"),
}


class Query:
    """A query and its subword vectors.

    Attributes:
        text: The query.
    """

    def __init__(self, text: str, parser: Parser) -> None:
        """Encode a query with a parser's encoder."""
        self.text, self._parser = text, parser
        text = normalize("NFC", text)
        words = list(_WORD.finditer(text))
        if parser.language == ENGLISH:
            words = [word for index, word in enumerate(words) if not _is_function_word(word[0], index == 0)] or words
        self._words = " ".join(word[0] for word in words)
        encoded = parser.vectors([Document.from_spans(text, [], [])], [SUBWORDS])[0]
        # Vectors of function words and punctuation would match in every unit.
        starts = encoded.subwords.starts
        inside = np.zeros(len(starts), dtype=bool)
        for word in words:
            inside |= (starts >= word.start()) & (starts < word.end())
        self._vectors = nn.functional.normalize(encoded.vectors[SUBWORDS][torch.from_numpy(inside)], dim=-1)

    @property
    def device(self) -> torch.device:
        """The device that it computes on."""
        return self._vectors.device

    def doubt(self, text: str) -> str:
        """Return a warning if the text has no word of the query; an empty string if it has, or if it is empty.

        A query word may be the beginning of a longer word: the query "otter" matches "otters".
        """
        lower = normalize("NFC", text).lower()
        found = (match for word in self._words.lower().split() for match in re.finditer(re.escape(word), lower))
        if not text.strip() or not all(is_inside_word(lower, match.start()) for match in found):
            return ""
        return (
            f"expected a word of the query {self.text[:40]!r} in the text, found none; do not trust the choice of units"
        )

    def similarities(self, item: ParsedDocument, unit: str) -> Scores:
        """Return how similar each unit is to the query, `(units,)` in 0 to 1.

        The similarity is the mean of two. The word similarity finds names and numbers: it is the cosine of tf-idf
        vectors, with idf over the document's units. The vector similarity finds synonyms by late interaction (Khattab
        and Zaharia 2020, *ColBERT*): it takes the greatest cosine of each query subword with any subword of the unit,
        and averages over the query.
        """
        encoded = encoding(item, self._parser, [SUBWORDS])
        texts = unit_texts(item.document, unit)
        if not texts:
            return np.zeros(0, dtype=np.float64)
        spans = item.document.units(unit)
        bounds = np.searchsorted(encoded.subwords.starts, [(span.start, span.end) for span in spans])
        return (
            _word_similarities(self._words, texts) + self._vector_similarities(encoded.vectors[SUBWORDS], bounds)
        ) / 2

    @inference
    def _vector_similarities(self, vectors: Tensor, bounds: NDArray[np.int64]) -> Scores:
        """Return the late-interaction similarities `(units,)`.

        Takes subword vectors `(subwords, width)` and the subword range `(units, 2)` of each unit.
        """
        if not len(self._vectors):
            return np.zeros(len(bounds), dtype=np.float64)
        cosines = self._vectors @ nn.functional.normalize(vectors, dim=-1).T
        best = [
            cosines[:, first:after].amax(1).mean() if after > first else cosines.new_zeros(())
            for first, after in bounds.tolist()
        ]
        means: Scores = torch.stack(best).clamp(0, 1).double().cpu().numpy()
        return means


def _is_function_word(word: str, first: bool) -> bool:
    """Return whether a word of an English query says nothing about its subject.

    Case counts: WHO and IT are content words, and so is May unless it is the query's first word.
    """
    plain = word.islower() or word == "I" or (first and not (word.isupper() and len(word) > 1))
    return plain and word.lower() in _FUNCTION_WORDS


def combined(scores: Scores, similarities: Scores) -> Scores:
    """Return the weighted mean of a model's scores and the similarities to a query, `(units,)` in 0 to 1.

    Both are first scaled to 0 to 1 within the document because each model has its own scale.
    """
    return (1 - SHARE) * _scaled(scores) + SHARE * _scaled(similarities)


def _scaled(values: Scores) -> Scores:
    """Return the values scaled to 0 to 1; all 0 if they are equal."""
    if not values.size or np.ptp(values) == 0:
        return np.zeros_like(values)
    scaled: Scores = (values - values.min()) / np.ptp(values)
    return scaled


def _word_similarities(query: str, texts: tuple[str, ...]) -> Scores:
    """Return the tf-idf cosine of each text with the query `(texts,)`; 0 where they share no word."""
    from sklearn.feature_extraction.text import TfidfVectorizer

    vectorizer = TfidfVectorizer(sublinear_tf=True, token_pattern=_WORD.pattern)
    try:
        vectors = vectorizer.fit_transform([normalize("NFC", text) for text in texts])
    except ValueError:  # No text has a word.
        return np.zeros(len(texts), dtype=np.float64)
    found: Scores = (vectors @ vectorizer.transform([query]).T).toarray()[:, 0].astype(np.float64)
    return found
