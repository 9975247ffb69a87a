"""Selection of a summary's units by their scores.

Words, here and in every length of discsum, are those of `discsum.writing.count_words`: separated by white space.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from numbers import Integral

import numpy as np
from numpy.typing import ArrayLike, NDArray

from discsum.candidates import Candidates
from discsum.constants import DEFAULT_UNITS, LAYOUTS, UNITS
from discsum.document import Document
from discsum.errors import InputError
from discsum.ranking import Ranking, log_odds, ngrams
from discsum.signature import Signature
from discsum.writing import count_words

# Penalties on the log-odds of units.
PENALTIES = ("redundancy", "brevity")
# Words of a unit that cost no brevity penalty: speech has short sentences, which are no better than longer ones.
FREE_WORDS = {"sentence": 20, "edu": 0}
# What a policy may leave to the scorer.
OPEN_RULES = ("block_trigrams", *PENALTIES)


def _is_number(value: object) -> bool:
    return isinstance(value, int | float | np.floating) and not isinstance(value, bool)


@dataclass(frozen=True)
class Budget:
    """Maximum length of a summary: exactly one of the three.

    Attributes:
        units: Maximum number of units (`--units`).
        words: Maximum number of words (`--words`).
        ratio: At most this share of the document's words, rounded down (`--ratio`).

    Raises:
        InputError: None or several of them, or a length that leaves nothing to select; all problems at once.
    """

    units: int | None = None
    words: int | None = None
    ratio: float | None = None

    def __post_init__(self) -> None:
        """Check that exactly one length is given and that it is valid."""
        given = {name: value for name, value in vars(self).items() if value is not None}
        problems = []
        if len(given) != 1:
            found = " and ".join(f"{name} {value}" for name, value in given.items()) or "none"
            problems.append(f"expected exactly one of units, words and ratio, got {found}; choose one")
        for name in ("units", "words"):
            value = given.get(name, 1)
            if isinstance(value, bool) or not isinstance(value, Integral) or value < 1:
                problems.append(f"{name}: expected a whole number of at least 1, got {value!r}")
        ratio = given.get("ratio", 1.0)
        if not _is_number(ratio) or not 0 < ratio <= 1:
            problems.append(f"ratio: expected a number above 0 and at most 1, got {ratio!r}")
        if problems:
            raise InputError("; ".join(problems))

    def costs(self, document: Document, unit: str, candidates: Candidates) -> tuple[NDArray[np.int64], int]:
        """Return the cost of every unit `(units,)` and the capacity, both in units or in words."""
        most = self.most_words(document)
        if most is None:
            return candidates.unit_costs(), self.units or 0
        return word_counts(document, unit), most

    def most_words(self, document: Document) -> int | None:
        """Return the maximum number of words of a document's summary; None if the budget counts units."""
        if self.ratio is None:
            return self.words
        # The tiny term corrects rounding: .1 of 30 words is 3 even if the product falls just short of it.
        return math.floor(self.ratio * count_words(document.text) + 1e-9)


@dataclass(frozen=True)
class Policy:
    """The unit, the length and the selection rules of a summary.

    Attributes:
        budget: Its length.
        unit: `sentence` or `edu`.
        block_trigrams: Skip a unit that shares a trigram with what is selected (Paulus et al. 2018, section
            2.5; Liu and Lapata 2019, section 4.2). Trigrams are of lower-cased words without punctuation. None leaves
            it to the scorer, see `UnitScorer.complete`.
        redundancy: Penalty on the log-odds of a unit, in nats, times the share of its bigrams that are in the summary,
            see `Ranking`; scores must be probabilities. None leaves it to the scorer.
        brevity: Penalty on the log-odds for each word of an EDU, or each word after the 20th of a sentence; likewise.
        dependencies: An EDU brings along all its ancestors within its sentence (Xu et al. 2020).
        layout: `skip` to select prose only, `keep` to select headings, bylines and the like as well.

    Raises:
        InputError: An unknown unit or layout, a weight below 0, or `dependencies` between sentences.
    """

    budget: Budget
    unit: str = "sentence"
    block_trigrams: bool | None = None
    redundancy: float | None = None
    brevity: float | None = None
    dependencies: bool = False
    layout: str = "keep"

    def __post_init__(self) -> None:
        """Check the fields together."""
        problems = []
        if self.unit not in UNITS:
            problems.append(f"unit: expected {' or '.join(UNITS)}, got {self.unit!r}")
        if self.layout not in LAYOUTS:
            problems.append(f"layout: expected {' or '.join(LAYOUTS)}, got {self.layout!r}")
        for name in PENALTIES:
            weight = getattr(self, name) or 0.0
            if not _is_number(weight) or not 0 <= weight < math.inf:
                problems.append(f"{name}: expected a number of at least 0, got {weight!r}")
        if self.dependencies and self.unit != "edu":
            problems.append(f"dependencies: expected unit edu, got {self.unit}")
        if problems:
            raise InputError("; ".join(problems))

    @property
    def signature(self) -> Signature:
        """Its settings, for the signature of a figure."""
        length = {name: value for name, value in vars(self.budget).items() if value is not None}
        rules = {name: getattr(self, name) for name in ("dependencies", *OPEN_RULES) if getattr(self, name)}
        return Signature.of(unit=self.unit, **length, **rules, layout=self.layout)

    def candidates(self, document: Document) -> Candidates:
        """Return the candidates of a document under these rules."""
        return Candidates.of(document, self.unit, dependencies=self.dependencies, skip_layout=self.layout == "skip")


def default_policy(
    unit: str,
    units: int | None = None,
    *,
    block_trigrams: bool | None = None,
    redundancy: float | None = None,
    brevity: float | None = None,
    layout: str = "keep",
) -> Policy:
    """Return the usual policy: 3 sentences, or 6 EDUs that include the EDUs of their sentence that they depend on.

    Raises:
        InputError: An unknown unit, or fewer than one of them.
    """
    # `Policy` refuses an unknown unit.
    count = DEFAULT_UNITS.get(unit, 1) if units is None else units
    return Policy(Budget(units=count), unit, block_trigrams, redundancy, brevity, unit == "edu", layout)


def word_counts(document: Document, unit: str) -> NDArray[np.int64]:
    """Return the number of words of every unit `(units,)`."""
    return np.array([*map(count_words, unit_texts(document, unit))], dtype=np.int64)


def unit_texts(document: Document, unit: str) -> tuple[str, ...]:
    """Return the texts of the units: `sentence` or `edu`.

    Raises:
        InputError: An unknown unit, or a text that has not been divided into such units.
    """
    if not document.units(unit) and document.text.strip():
        raise InputError(f"{document.label}: expected a document with its {unit} spans, got none; parse its text first")
    return document.sentence_texts if unit == "sentence" else document.edu_texts


def checked_scores(scores: ArrayLike, units: int, source: str = "") -> NDArray[np.float64]:
    """Return the scores as numbers `(units,)`; `source` says where they come from in errors.

    Raises:
        InputError: Scores that are not numbers, do not fit the units, or are NaN.
    """
    place = f"{source}: " if source else ""
    try:
        values = np.asarray(scores, dtype=np.float64)
    except (TypeError, ValueError, RuntimeError) as error:
        # A tensor that needs gradients raises RuntimeError.
        raise InputError(f"{place}expected a number for each of {units} units, got {error}") from error
    if values.shape != (units,):
        raise InputError(f"{place}expected a number for each of {units} units, got shape {values.shape}: {values}")
    if lacking := int(np.isnan(values).sum()):
        raise InputError(
            f"{place}expected a number for each of {units} units, got NaN for {lacking}; a trained model gives these "
            "if its training diverged: train it again with a lower learning rate"
        )
    return values


def select(document: Document, scores: ArrayLike, policy: Policy) -> list[int]:
    """Return the selected units in document order: greedy by score, ties by position.

    A unit is selected with all units that `Candidates` binds to it, or not at all; they count against the budget. (Xiao
    et al. 2020, section 5.1, add the EDUs that others depend on to the best 6, so their summaries may be longer.) If
    the budget counts units, a clause counts once. A unit that does not fit into the rest of the budget, or that trigram
    blocking excludes, is skipped. If nothing fits, the best unit is still selected: a text never has an empty summary.

    Args:
        document: Segmented, and with a tree if `policy.dependencies`.
        scores: `(units,)`; with `policy.redundancy` or `policy.brevity` probabilities.
        policy: Budget, unit and rules.

    Raises:
        InputError: Scores that do not fit the units or are NaN, or a missing tree.
    """
    texts = unit_texts(document, policy.unit)
    values = checked_scores(scores, len(texts))
    candidates = policy.candidates(document)
    costs, left = policy.budget.costs(document, policy.unit, candidates)
    if policy.redundancy or policy.brevity:
        penalized = np.maximum(word_counts(document, policy.unit) - FREE_WORDS[policy.unit], 0)
        values = log_odds(values) - (policy.brevity or 0.0) * penalized
    ranking = Ranking(values, texts, np.flatnonzero(candidates.allowed).tolist(), policy.redundancy or 0.0)
    best: int | None = None
    selected: set[int] = set()
    seen: set[tuple[str, ...]] = set()
    for candidate in ranking:
        best = candidate if best is None else best
        if left <= 0:
            break
        wanted = [unit for unit in candidates.together(candidate) if unit not in selected]
        cost = int(costs[wanted].sum())
        if not wanted or cost > left:
            continue
        if policy.block_trigrams:
            new = set().union(*(ngrams(texts[index], 3) for index in wanted))
            if new & seen:
                continue
            seen |= new
        ranking.add(wanted)
        selected.update(wanted)
        left -= cost
    if not selected and best is not None:
        selected.update(candidates.together(best))
    return sorted(selected)
