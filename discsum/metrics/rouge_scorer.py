"""The ROUGE scorer: rouge-score, or rouge-score-rs if it is installed and gives equal scores."""

from __future__ import annotations

import warnings
from functools import cache
from importlib.metadata import version
from types import SimpleNamespace
from typing import Any

from discsum.errors import InputWarning
from discsum.metrics.rouge_words import stemmed_words

METRICS = ("rouge1", "rouge2", "rougeLsum")
# Text pairs that cover several lines, stems, repeated words, digits, non-ASCII letters, no common word, and no word.
_PROBES = (
    ("The ferries stopped running.\nIce covered the harbour.", "Ice stopped the ferry.\nThe harbour is iced over."),
    ("the the cat cat sat in 2019\nfor 3.5%", "The cat sat on the mat for 3.5 percent,\nand the cat slept in 2019."),
    ("A café naïvely opened\nin Zürich \u2014 twice.", "The cafés of Zürich open twice.\n\nNaive!"),
    ("entirely different words", "nothing shared here"),
    ("", "An empty summary."),
)


@cache
def scorer() -> tuple[str, Any]:
    """Return the name and version of this process's scorer, and its `RougeScorer`.

    The scorer is rouge-score with cached stems, or rouge-score-rs if the extra `rouge-fast` is installed. If
    rouge-score-rs scores a probe differently, it is not used, and a warning is given.
    """
    from rouge_score.rouge_scorer import RougeScorer

    name = f"rouge-score {version('rouge-score')}"
    reference = RougeScorer(list(METRICS), tokenizer=SimpleNamespace(tokenize=stemmed_words))
    try:
        import rouge_score_rs
    except ImportError:
        return name, reference
    module: Any = rouge_score_rs
    fast_name, fast = f"rouge-score-rs {version('rouge-score-rs')}", module.RougeScorer(list(METRICS), use_stemmer=True)
    for prediction, text in _PROBES:
        expected, got = (used.score_multi([text], prediction) for used in (reference, fast))
        if any(tuple(expected[metric]) != tuple(got[metric]) for metric in METRICS):
            warnings.warn(
                f"expected {fast_name} to score as {name} does, got a different value for {prediction!r}; {name} is "
                "used; remove rouge-score-rs or install another version",
                InputWarning,
                stacklevel=2,
            )
            return name, reference
    return fast_name, fast
