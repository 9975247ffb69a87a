"""Summarize a document with a scorer: the one code path of all extractive models."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Hashable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from discsum.batches import check_kind
from discsum.constants import DEFAULT_UNITS
from discsum.document import Document
from discsum.errors import InputError
from discsum.selection import OPEN_RULES, PENALTIES, Policy, checked_scores, select, unit_texts
from discsum.summary import Summary
from discsum.writing import count_words

Scores = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class ParsedDocument:
    """A document with cached vectors, so that several scorers need not compute them again.

    Attributes:
        document: The document.
        vectors: A parser's encoding by the parser's fingerprint, unit vectors by the key of their encoder. Scorers add
            what they compute.
    """

    document: Document
    vectors: dict[Hashable, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class ParameterCount:
    """Parameters of the attention (heads, values, output) and of the whole network, without fixed matrices."""

    attention: int
    whole: int


class UnitScorer(ABC):
    """Scorer of the units of documents: a baseline or a trained model.

    Attributes:
        needs_tree: Whether documents must come with a discourse tree.
        probabilities: Whether its scores are probabilities, as `Policy.redundancy` and `brevity` need.
        own_selection: Whether it overrides `select`, because the budget is part of its optimization problem.
        parser: The parser whose vectors it uses, if any.
    """

    needs_tree: ClassVar[bool] = False
    probabilities: ClassVar[bool] = False
    own_selection: ClassVar[bool] = False
    parser: Any = None

    @property
    def reads(self) -> Collection[str]:
        """The names of the vectors that its parser should keep, as in `Parser.encode`."""
        return ()

    @property
    @abstractmethod
    def name(self) -> str:
        """The name shown in its summaries."""

    @property
    def unit(self) -> str | None:
        """The unit that it scores; None for both."""
        return None

    @property
    def settings(self) -> dict[str, Any]:
        """Its own settings that change its summaries, for the signature of a figure."""
        return {}

    @property
    def open_rules(self) -> dict[str, bool | float]:
        """Its values of the fields of `Policy` that a policy may leave open, by name."""
        return dict.fromkeys(OPEN_RULES, False)

    def complete(self, policy: Policy) -> Policy:
        """Return a policy in which the scorer's values replace open fields.

        Raises:
            InputError: A redundancy or brevity with scores that are not probabilities.
        """
        for name in PENALTIES:
            if getattr(policy, name) and not self.probabilities:
                raise InputError(f"{name}: expected none with {self.name}, which gives no probabilities; leave it out")
        own = {name: value for name, value in self.open_rules.items() if getattr(policy, name) is None}
        return replace(policy, **own)  # type: ignore[arg-type]

    def default_units(self, unit: str) -> int:
        """Return the default length of a summary in units."""
        return DEFAULT_UNITS[unit]

    @abstractmethod
    def score(self, document: Document, unit: str) -> ArrayLike:
        """Return a score for every unit `(units,)`, the higher the better."""

    def scores(self, documents: Sequence[ParsedDocument], unit: str) -> list[Scores]:
        """Return the scores `(units,)` of several documents, with their cached vectors.

        Raises:
            InputError: Documents that the scorer cannot score, or scores as in `checked_scores`.
        """
        found = []
        for document in (item.document for item in documents):
            units = len(document.units(unit))
            given: ArrayLike = self.score(document, unit) if units else []
            found.append(checked_scores(given, units, f"{document.label}: {self.name}"))
        return found

    def select(self, document: Document, scores: Scores, policy: Policy, *, own: bool = True) -> list[int]:
        """Return the selected units in document order: greedy by score.

        Args:
            document: As for `extract`.
            scores: `(units,)`.
            policy: Budget, unit and rules.
            own: Whether the scores come from `score` alone, and are not combined with others such as a query's.
        """
        return select(document, scores, policy)

    def parameter_count(self) -> ParameterCount | None:
        """Return the counts of trained parameters, without frozen encoders; None if nothing is trained."""
        return None


def extract(
    document: Document,
    scorer: UnitScorer,
    policy: Policy,
    *,
    scores: ArrayLike | None = None,
    own: bool = True,
    tidy: bool = False,
) -> Summary:
    """Return the summary of a document; warn if it has more words than the policy allows because no unit fits.

    Args:
        document: Segmented, and parsed if the scorer or the policy needs the tree.
        scorer: Gives the scores and selects.
        policy: Budget, unit and rules.
        scores: `(units,)`, if already computed, for example in a batch.
        own: Whether these are the scorer's own, as in `UnitScorer.select`.
        tidy: Whether the text is tidied, as in `Summary`.

    Raises:
        TypeError: A text instead of a document, or a scorer whose `select` returns no indices.
        InputError: A document without the spans or the tree that are needed, scores that do not fit its units or are
            NaN, or a policy that the scorer cannot follow.
    """
    check_kind("document", document, (Document,), "; parse the text first")
    if not unit_texts(document, policy.unit):
        return Summary(document, policy.unit, scorer.name, (), (), tidy)
    if scorer.needs_tree:
        document.require_tree(scorer.name)
    given = scorer.score(document, policy.unit) if scores is None else scores
    source = f"{document.label}: {scorer.name}"
    values = checked_scores(given, len(document.units(policy.unit)), source)
    selected: Any = scorer.select(document, values, scorer.complete(policy), own=own)
    if not isinstance(selected, Iterable):
        raise TypeError(f"{source}: expected select to return the indices of units, got {type(selected).__name__}")
    summary = Summary.from_indices(document, policy.unit, scorer.name, values, selected, tidy)
    most, words = policy.budget.most_words(document), sum(count_words(one.text) for one in summary.selected)
    if most is None or words <= most:
        return summary
    return summary.doubted(
        f"expected a summary of at most {most} words, got {words}: no unit that {summary.model} can select fits, with "
        "those selected along with it"
    )
