"""The ROUGE scorer: rouge-score, or rouge-score-rs if it is installed and gives equal scores."""

from __future__ import annotations

from functools import cache
from importlib.metadata import version
from types import SimpleNamespace
from typing import Any

from discsum.errors import warn_caller
from discsum.metrics.rouge_words import stemmed_words

METRICS = ("rouge1", "rouge2", "rougeLsum")
# Text pairs that cover several lines, stems, repeated words, digits, non-ASCII letters, no common word, and no word.
# Each has the counts of rouge-score 0.1.2 for each of `METRICS`: n-grams (or words of common subsequences) in both, in
# the first text, and in the second. They are constants because rouge-score imports all of NLTK, which takes a second.
_PROBES = (
    (
        ("The ferries stopped running.\nIce covered the harbour.", "Ice stopped the ferry.\nThe harbour is iced over."),
        ((6, 8, 9), (2, 7, 8), (5, 8, 9)),
    ),
    (
        (
            "the the cat cat sat in 2019\nfor 3.5%",
            "The cat sat on the mat for 3.5 percent,\nand the cat slept in 2019.",
        ),
        ((10, 10, 16), (5, 9, 15), (10, 10, 16)),
    ),
    (
        ("A café naïvely opened\nin Zürich \u2014 twice.", "The cafés of Zürich open twice.\n\nNaive!"),
        ((5, 9, 9), (1, 8, 8), (5, 9, 9)),
    ),
    (("entirely different words", "nothing shared here"), ((0, 3, 3), (0, 2, 2), (0, 3, 3))),
    (("", "An empty summary."), ((0, 0, 3), (0, 0, 2), (0, 0, 3))),
)


@cache
def scorer() -> tuple[str, Any]:
    """Return the name and version of this process's scorer, and its `RougeScorer`.

    The scorer is rouge-score with cached stems, or rouge-score-rs if the extra `rouge-fast` is installed. If
    rouge-score-rs scores a probe differently, it is not used, and a warning is given.
    """
    name = f"rouge-score {version('rouge-score')}"
    try:
        import rouge_score_rs
    except ImportError:
        return name, _reference()
    module: Any = rouge_score_rs
    fast_name, fast = f"rouge-score-rs {version('rouge-score-rs')}", module.RougeScorer(list(METRICS), use_stemmer=True)
    for (prediction, text), counts in _PROBES:
        got = fast.score_multi([text], prediction)
        if any(tuple(got[metric]) != scores_of(*own) for metric, own in zip(METRICS, counts, strict=True)):
            warn_caller(
                f"expected {fast_name} to score as {name} does, got a different value for {prediction!r}; {name} is "
                "used; remove rouge-score-rs or install another version"
            )
            return name, _reference()
    return fast_name, fast


def _reference() -> Any:
    """Return rouge-score's scorer, with cached stems."""
    from rouge_score.rouge_scorer import RougeScorer

    return RougeScorer(list(METRICS), tokenizer=SimpleNamespace(tokenize=stemmed_words))


def scores_of(both: int, predicted: int, reference: int) -> tuple[float, float, float]:
    """Return precision, recall and F1, computed from counts as rouge-score does, with the same rounding."""
    precision, recall = both / max(predicted, 1), both / max(reference, 1)
    return precision, recall, 2 * precision * recall / (precision + recall) if both else 0.0
