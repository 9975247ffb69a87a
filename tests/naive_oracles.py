"""The oracles, written from their definitions: rouge-score scores every candidate from scratch."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence

from nltk.stem.porter import PorterStemmer
from rouge_score.rouge_scorer import RougeScorer
from rouge_score.tokenize import tokenize
from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

WORDS = 100

SCORER = RougeScorer(["rouge1", "rouge2"], use_stemmer=True)


def greedy(count: int, score_of: Callable[[list[int]], float], k: int | None) -> list[int]:
    """Return the choices out of `count` that a greedy search makes; among equal choices, the first one wins."""
    selected: list[int] = []
    best = 0.0
    while k is None or len(selected) < k:
        options = [
            (round(score_of(sorted([*selected, index])), 10), -index) for index in range(count) if index not in selected
        ]
        if not options or max(options)[0] <= round(best, 10):
            break
        best = max(options)[0]
        selected.append(-max(options)[1])
    return sorted(selected)


def rouge12_f(units: Sequence[str], references: Sequence[str], k: int | None) -> list[int]:
    def score_of(chosen: list[int]) -> float:
        summary = "\n".join(units[index] for index in chosen)
        scores = [SCORER.score(reference, summary) for reference in references]
        return sum(max(score[metric].fmeasure for score in scores) for metric in ("rouge1", "rouge2"))

    return greedy(len(units), score_of, k)


def bertsum(units: Sequence[str], references: Sequence[str], k: int | None) -> list[int]:
    return discobert_edu(units, references, k, [-1] * len(units))


def discobert_edu(units: Sequence[str], references: Sequence[str], k: int | None, heads: Sequence[int]) -> list[int]:
    reference = " ".join(references)

    def members(choices: Iterable[int]) -> set[int]:
        return {unit for choice in choices for unit in (choice, heads[choice]) if unit >= 0}

    def score_of(choices: list[int]) -> float:
        # One line per unit, so that no bigram spans two units.
        summary = "\n".join(" ".join(units[unit].split()) for unit in sorted(members(choices)))
        return sum(scorer.score(" ".join(reference.split()), summary)["rouge1"].fmeasure for scorer in SET_SCORERS)

    return sorted(members(greedy(len(units), score_of, k)))


def kedzie(units: Sequence[str], references: Sequence[str], k: int | None) -> list[int]:
    scorer = RougeScorer(["rouge1"], tokenizer=_ContentWords())

    def score_of(chosen: list[int]) -> float:
        summary = " ".join(units[index] for index in chosen)
        if len(summary.split()) > WORDS:
            return -1.0
        return max(scorer.score(reference, summary)["rouge1"].recall for reference in references)

    return greedy(len(units), score_of, k)


class _ContentWords:
    def __init__(self) -> None:
        self.stemmer = PorterStemmer()

    def tokenize(self, text: str) -> list[str]:
        words = [word for word in tokenize(text, None) if word not in ENGLISH_STOP_WORDS]
        return tokenize(" ".join(words), self.stemmer)


class _SetsOfGrams:
    """Tokenizes to the distinct n-grams of a text's lines; their ROUGE-1 is BertSum's measure for that n."""

    def __init__(self, n: int) -> None:
        self.n = n

    def tokenize(self, text: str) -> list[str]:
        lines = [re.sub("[^a-z0-9 ]", "", line.lower()).split() for line in text.split("\n")]
        starts = ((line, start) for line in lines for start in range(len(line) - self.n + 1))
        return list({" ".join(line[start : start + self.n]) for line, start in starts})


SET_SCORERS = [RougeScorer(["rouge1"], tokenizer=_SetsOfGrams(n)) for n in (1, 2)]
