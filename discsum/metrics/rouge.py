"""ROUGE as rouge-score computes it, per document and on average, with its signature."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from discsum.batches import check_several
from discsum.errors import InputError, warn_caller
from discsum.metrics.rouge_scorer import METRICS as METRICS
from discsum.metrics.rouge_scorer import scorer
from discsum.metrics.rouge_words import are_dropped, share_dropped
from discsum.signature import Signature

if TYPE_CHECKING:
    from discsum.summary import Summary

# The end of a sentence and the beginning of another one on the same line.
_NEXT_SENTENCE = re.compile(r"""[.!?]["')\]’”]*[^\S\n]+["'(\[‘“]*[A-Z]""")

# What ends like a sentence but is none: initials, and the commonest abbreviations before names.
_ABBREVIATION = re.compile(
    r"(?:^|[\s(\"'.])(?:(?:[A-Z]\.)*[A-Z]|[Ss]t|M[rst]|Mrs|[DJS]r|Prof|Sen|Rep|Gov|Gen|Col|Lt|Sgt|Rev|Inc|Corp|Co|Ltd|vs?)\Z"
)
# Share of summaries and of references from which lines with several sentences are told: a summary of one sentence may
# quote several, but of references with a sentence per line, less than 1% look otherwise.
_SHARES = {"summaries": 0.5, "references": 0.1}
# Tags, and marks between sentences in the tables of several summarizers.
_MARK = re.compile(r"</?[A-Za-z][\w-]{0,15}(?:\s+[\w-]+\s*=[^<>]{0,200})?\s?/?>|\[[A-Z_]*SEP\]|\\n(?![a-z])")

# Share of words with other letters that English texts hardly reach.
MOST_DROPPED = 0.05
MEASURES = {"f": "fmeasure", "p": "precision", "r": "recall"}


@dataclass(frozen=True, eq=False)
class RougeScores:
    """Scores `(documents, metrics)` in [0, 1], in the order of `METRICS`, with their signature."""

    values: NDArray[np.float64]
    signature: Signature

    @property
    def mean(self) -> dict[str, float]:
        """The mean of every metric over the documents."""
        return dict(zip(METRICS, self.values.mean(axis=0).tolist(), strict=True))

    def metric(self, name: str) -> NDArray[np.float64]:
        """Return one metric of all documents, `(documents,)`.

        Raises:
            InputError: An unknown metric; the message lists the choices.
        """
        if name not in METRICS:
            raise InputError(f"expected one of the metrics {', '.join(METRICS)}, got {name!r}")
        return self.values[:, METRICS.index(name)]


def signature(*measures: str) -> Signature:
    """Return the signature of ROUGE scores without the digest of the references; the default measure is F1.

    Raises:
        InputError: An unknown measure; the message lists the choices.
    """
    if unknown := sorted({*measures} - {*MEASURES}):
        raise InputError(f"expected one of the measures {', '.join(MEASURES)}, got {unknown[0]!r}")
    used = scorer()[0].replace(" ", "-")
    fixed = {"stem": "porter", "split": "newline", "refs": "max"}
    return Signature.of(metrics=METRICS, measure=measures or ("f",), **fixed, scorer=used)


def rouge(
    predictions: Sequence[str | Summary], references: Sequence[str | Sequence[str]], *, measure: str = "f"
) -> RougeScores:
    """Return ROUGE-1, ROUGE-2 and ROUGE-Lsum of every document.

    Texts must have one sentence per line because ROUGE-Lsum (Lin 2004, section 3.2) matches line by line; a `Summary`
    has its own lines, and texts that do not seem to give a warning. Words are stemmed (Porter). Only the letters a to z
    and digits count, so scores of other scripts mean nothing, which gives a warning too. With several references for a
    summary, each metric uses the one with the best F1; there is no jackknifing. A list is several references, not the
    sentences of one, which are joined with line breaks. The signature has a digest of the references. The measure is
    `f`, `p` or `r`: F1, precision or recall.

    Raises:
        TypeError: A single text, or anything other than texts.
        InputError: An unknown measure, no documents, different numbers of references and summaries, or a document
            without a reference.
    """
    signed = signature(measure)
    if isinstance(predictions, str) or isinstance(references, str):
        raise TypeError("expected a list of summaries and a list of references, got a single text; put it in a list")
    check_several(predictions, "summaries")
    check_several(references, "references")
    summaries = [_text(row, prediction) for row, prediction in enumerate(predictions)]
    references = [_references(row, given) for row, given in enumerate(references)]
    if not summaries and not references:
        raise InputError("expected summaries and references, got none")
    if len(summaries) != len(references):
        raise InputError(f"expected a reference for each of {len(summaries)} summaries, got {len(references)}")
    _warn_of_long_lines("summaries", [[summary] for summary in summaries])
    _warn_of_long_lines("references", references)
    _warn_of_marks("summaries", [[summary] for summary in summaries])
    _warn_of_marks("references", references)
    _warn_without_words(references)
    _, computes = scorer()
    values = np.zeros((len(summaries), len(METRICS)))
    for row, (summary, texts) in enumerate(zip(summaries, references, strict=True)):
        scores = computes.score_multi(texts, summary)
        values[row] = [getattr(scores[metric], MEASURES[measure]) for metric in METRICS]
    return RougeScores(values, signed.with_(references=_digest(references)))


def _text(row: int, given: Any) -> str:
    if hasattr(given, "lines"):
        return "\n".join(given.lines)
    if not isinstance(given, str):
        raise TypeError(f"document {row}: expected the text of a summary, got {type(given).__name__}")
    return given


def _references(row: int, given: Any) -> list[str]:
    """Return the references of a document, of which there is one or any iterable, such as an array."""
    texts = [given] if isinstance(given, str) else list(given) if isinstance(given, Iterable) else [given]
    if not texts:
        raise InputError(f"document {row}: expected at least one reference, got none")
    if not all(isinstance(text, str) for text in texts):
        raise TypeError(f"document {row}: expected a reference, or a list of references, got {given!r:.80}")
    return texts


def _warn_of_long_lines(kind: str, texts_of: Sequence[Sequence[str]]) -> None:
    """Warn if several documents have summaries or references of several sentences on a single line."""
    long = sum(any("\n" not in text and _has_several_sentences(text) for text in texts) for texts in texts_of)
    if long > _SHARES[kind] * len(texts_of):
        warn_caller(
            f"{kind}: expected one sentence per line, got several on one line in {long} of {len(texts_of)} "
            "documents; ROUGE-Lsum compares lines, so it is lower than with line breaks between sentences"
        )


def _has_several_sentences(text: str) -> bool:
    starts = (found.start() for found in _NEXT_SENTENCE.finditer(text))
    return any(not _ABBREVIATION.search(text[max(0, start - 12) : start]) for start in starts)


def _warn_of_marks(kind: str, texts_of: Sequence[Sequence[str]]) -> None:
    """Warn about tags and marks between sentences."""
    found = [mark for texts in texts_of if (mark := next(filter(None, map(_MARK.search, texts)), None))]
    if found:
        warn_caller(
            f"{kind}: expected plain text, got marks such as {found[0][0]:.20}, which ROUGE counts as words, in "
            f"{len(found)} of {len(texts_of)} documents; replace marks between sentences by line breaks, and remove "
            "others"
        )


def _digest(references: Sequence[Sequence[str]]) -> str:
    """Return the beginning of a SHA-256 of the references, which are in the order of the documents."""
    return hashlib.sha256(json.dumps([*map(list, references)]).encode()).hexdigest()[:8]


def _warn_without_words(references: Sequence[Sequence[str]]) -> None:
    """Warn about references whose letters ROUGE drops."""
    if empty := sum(not any(map(str.strip, texts)) for texts in references):
        message = f"got an empty one for {empty} of {len(references)} documents, which score 0"
        warn_caller(f"references: expected texts, {message}")
    without = sum(are_dropped(texts) for texts in references)
    if without:
        warn_caller(
            "references: expected words of the letters a to z and digits, which alone ROUGE counts, got mostly other "
            f"letters in {without} of {len(references)} documents; do not trust their scores"
        )
    elif (share := share_dropped(chain.from_iterable(references))) > MOST_DROPPED:
        warn_caller(
            f"references: got letters other than a to z, which ROUGE drops, in {share:.0%} of the words; do not "
            "compare these scores with those of English texts"
        )
