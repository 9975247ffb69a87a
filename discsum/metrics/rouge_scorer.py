"""What ROUGE is measured by: rouge-score, or its fast twin where that is installed and gives the same."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.metadata import version
from typing import Any

from discsum.metrics.rouge_words import StemmedWords

METRICS = ("rouge1", "rouge2", "rougeLsum")
REFERENCE, FAST = "rouge-score", "rouge-score-rs"
# Several lines, stems, repeated words, digits, letters beyond ASCII, nothing in common, nothing at all.
_PROBES = (
    ("The ferries stopped running.\nIce covered the harbour.", "Ice stopped the ferry.\nThe harbour is iced over."),
    ("the the cat cat sat", "The cat sat on the mat, and the cat slept."),
    ("Prices rose 3.5% in 2019,\nthe bank's president-elect said.", "In 2019 prices were rising by 3.5 percent."),
    (
        "A caf\u00e9 na\u00efvely opened\nin Z\u00fcrich \u2014 twice.",
        "The caf\u00e9s of Z\u00fcrich open twice.\n\nNaive!",
    ),
    ("Generously organised happiness", "organising the generous and the happy ones"),
    ("one two three\nfour five six", "six five four\nthree two one"),
    ("entirely different words", "nothing shared here"),
    ("", "An empty summary."),
)


@dataclass(frozen=True)
class Scorer:
    """A scorer with its name and version, as signatures have them."""

    name: str
    scorer: Any

    @property
    def version(self) -> str:
        """The version of the installed package."""
        return version(self.name)

    def best(self, references: Sequence[str], prediction: str) -> dict[str, Any]:
        """Return precision, recall and F1 in every metric, each against the reference that gives the best F1."""
        found: dict[str, Any] = self.scorer.score_multi(references, prediction)
        return found


@cache
def scorer() -> Scorer:
    """Return the scorer of this process.

    rouge-score, with stems cached, unless the extra `rouge-fast` is installed: then rouge-score-rs, which is faster, if
    it gives the same numbers for a few texts. If not, one warning says so.
    """
    from rouge_score.rouge_scorer import RougeScorer

    reference = Scorer(REFERENCE, RougeScorer(list(METRICS), tokenizer=StemmedWords()))
    try:
        import rouge_score_rs
    except ImportError:
        return reference
    untyped: Any = rouge_score_rs
    fast = Scorer(FAST, untyped.RougeScorer(list(METRICS), use_stemmer=True))
    for prediction, text in _PROBES:
        if _values(reference, prediction, text) != _values(fast, prediction, text):
            warnings.warn(
                f"expected {FAST} {fast.version} to score as {REFERENCE} {reference.version} does, got another value "
                f"for {prediction!r}; {REFERENCE} is used, remove {FAST} or install another version",
                stacklevel=2,
            )
            return reference
    return fast


def _values(scorer: Scorer, prediction: str, text: str) -> list[tuple[float, ...]]:
    scores = scorer.best([text], prediction)
    return [tuple(scores[metric]) for metric in METRICS]
