"""Token and sentence counts of a corpus (Manakul and Gales 2021, table 4)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
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


def corpus_statistics(pairs: Iterable[tuple[Pair, int]], tokenizer: Any) -> CorpusStatistics:
    """Return the statistics of texts with references, each with its number of sentences.

    Special tokens of the tokenizer are not counted.

    Raises:
        InputError: No text, or a reference without a token.
    """
    rows = []
    for pair, sentences in pairs:
        count, summary = (
            len(tokenizer(text, add_special_tokens=False)["input_ids"]) for text in (pair.text, pair.references[0])
        )
        if not summary:
            raise InputError(f"{pair.id}: expected a reference with at least one token, got {pair.references[0]!r}")
        rows.append((count, sentences, summary, count / summary))
    if not rows:
        raise InputError("expected texts with reference summaries, got none")
    return CorpusStatistics(len(rows), *np.mean(rows, axis=0).tolist())
