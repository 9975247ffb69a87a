"""Token and sentence counts of a corpus (Manakul and Gales 2021, table 4)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from discsum.data.pairs import Pair
from discsum.errors import InputError


@dataclass(frozen=True)
class CorpusStatistics:
    """Number of documents, and means over them: tokens N, sentences, tokens M of the first reference, N/M."""

    documents: int
    tokens: float
    sentences: float
    summary_tokens: float
    ratio: float

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as a dictionary."""
        return asdict(self)


def corpus_statistics(pairs: Iterable[tuple[Pair, int]], tokenizer: Any) -> CorpusStatistics:
    """Return the statistics of texts with references.

    Args:
        pairs: Each text with its references, and its number of sentences.
        tokenizer: Counts tokens, without special tokens.

    Raises:
        InputError: No text, or a reference without a token.
    """
    rows = []
    for pair, sentences in pairs:
        count, summary = (
            len(tokenizer(text, add_special_tokens=False)["input_ids"]) for text in (pair.text, pair.references[0])
        )
        if not summary:
            raise InputError(f"{pair.id}: expected a reference with a token, got {pair.references[0]!r}")
        rows.append((count, sentences, summary, count / summary))
    if not rows:
        raise InputError("expected texts with reference summaries, got none")
    tokens, sentences_, summaries, ratios = np.mean(rows, axis=0).tolist()
    return CorpusStatistics(len(rows), tokens, sentences_, summaries, ratios)
