"""Statistics of a corpus of texts with summaries (Xiao et al. 2020, table 1; Manakul and Gales 2021, table 4)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from discsum.candidates import Candidates
from discsum.data.pairs import Pair
from discsum.document import Document
from discsum.errors import InputError
from discsum.metrics.rouge_words import plain_words
from discsum.oracles import document_labels
from discsum.writing import count_words


@dataclass(frozen=True)
class CorpusStatistics:
    """Number of documents, and means over them.

    Attributes:
        documents: Number of documents.
        words: Words of the text, as `count_words` counts them.
        sentences: Sentences of the text.
        edus: EDUs of the text.
        summary_words: Words of the first reference.
        compression: Words of the text for each word of the reference.
        coverage: Share of the reference's words in fragments copied from the text (Grusky et al. 2018).
        density: Squared lengths of these fragments, summed, for each word of the reference (likewise).
        oracle_sentences: Sentences that the oracle `kedzie` selects.
        oracle_edus: EDUs that it selects; the parts of an interrupted clause count as one.
        tokens: Tokens of the text, N; None without a tokenizer, as are the next two.
        summary_tokens: Tokens of the first reference, M.
        ratio: N / M.
    """

    documents: int
    words: float
    sentences: float
    edus: float
    summary_words: float
    compression: float
    coverage: float
    density: float
    oracle_sentences: float
    oracle_edus: float
    tokens: float | None = None
    summary_tokens: float | None = None
    ratio: float | None = None


def corpus_statistics(pairs: Iterable[tuple[Pair, Document]], tokenizer: Any = None) -> CorpusStatistics:
    """Return the statistics of texts with references, each with its parsed document.

    Special tokens of the tokenizer are not counted. Words of fragments are those that ROUGE counts, in lower case and
    not stemmed.

    Raises:
        InputError: No text, or a reference without a word or token.
    """
    rows = [_statistics(pair, document, tokenizer) for pair, document in pairs]
    if not rows:
        raise InputError("expected texts with reference summaries, got none")
    return CorpusStatistics(len(rows), *np.mean(rows, axis=0).tolist())


def _statistics(pair: Pair, document: Document, tokenizer: Any) -> list[float]:
    reference = pair.references[0]
    words, summary = count_words(pair.text), count_words(reference)
    if not summary:
        raise InputError(f"{pair.id}: expected a reference with at least one word, got {reference!r}")
    fragments = np.array(fragment_lengths(plain_words(pair.text), copied := plain_words(reference)), dtype=float)
    counted = max(1, len(copied))
    row = [words, len(document.sentences), len(document.edus), summary, words / summary]
    row += [fragments.sum() / counted, (fragments**2).sum() / counted]
    row += [_selected(document, unit, pair.references) for unit in ("sentence", "edu")]
    if tokenizer is None:
        return row
    count, tokens = (len(tokenizer(text, add_special_tokens=False)["input_ids"]) for text in (pair.text, reference))
    if not tokens:
        raise InputError(f"{pair.id}: expected a reference with at least one token, got {reference!r}")
    return [*row, count, tokens, count / tokens]


def _selected(document: Document, unit: str, references: Sequence[str]) -> int:
    """Return the number of units in the oracle's summary."""
    chosen = document_labels("kedzie", document, unit, references).astype(bool)
    return len(np.unique(Candidates.of(document, unit).groups[chosen]))


def fragment_lengths(text: Sequence[str], summary: Sequence[str]) -> list[int]:
    """Return the lengths of the fragments of a summary that are copied from a text, both as words.

    From left to right, each fragment is the longest one that begins at its word (Grusky et al. 2018, figure 3).
    """
    numbers: dict[str, int] = {}
    read = np.array([numbers.setdefault(word, len(numbers)) for word in text], dtype=np.int64)
    longest = np.zeros(len(summary), dtype=np.int64)
    # Of each place in the text, the length of the longest fragment from there that the summary has at `index`.
    common = np.zeros(len(text) + 1, dtype=np.int32)
    for index in range(len(summary) - 1, -1, -1):
        common[:-1] = np.where(read == numbers.get(summary[index], -1), common[1:] + 1, 0)
        longest[index] = common.max()
    found, index = [], 0
    while index < len(summary):
        if longest[index]:
            found.append(int(longest[index]))
        index += max(1, int(longest[index]))
    return found
