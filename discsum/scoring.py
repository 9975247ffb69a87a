"""From a document and a scorer to a summary: the one path that every extractive model takes."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from discsum.document import Document
from discsum.selection import Policy, select, unit_texts
from discsum.summary import Summary


class Scorer(Protocol):
    """Anything that scores units: a trained model or a baseline."""

    @property
    def name(self) -> str:
        """The name that the summary carries."""

    @property
    def needs_tree(self) -> bool:
        """Whether documents must come with a discourse tree."""

    def score(self, document: Document, unit: str) -> NDArray[np.float64]:
        """Return a score for every unit `(units,)`, the higher the better."""


@runtime_checkable
class Selector(Protocol):
    """A scorer that also does its own selecting, because the budget is part of its problem."""

    def select(self, document: Document, scores: NDArray[np.float64], policy: Policy) -> list[int]:
        """Return the selected units in document order."""


def extract(
    document: Document, scorer: Scorer, policy: Policy, *, scores: ArrayLike | None = None, tidy: bool = False
) -> Summary:
    """Return the summary of a document.

    Args:
        document: Segmented, and parsed if the scorer or the policy needs the tree.
        scorer: Gives the scores; selects too if it is a `Selector`.
        policy: Budget, unit and rules.
        scores: `(units,)`, where they are known already, as from a batch.
        tidy: Whether the text is tidied, as in `Summary`.

    Raises:
        InputError: A document without the spans or the tree that are needed.
    """
    if not unit_texts(document, policy.unit):
        return Summary(document, policy.unit, scorer.name, (), (), tidy)
    if scorer.needs_tree:
        document.require_tree(scorer.name)
    values = np.asarray(scorer.score(document, policy.unit) if scores is None else scores, dtype=np.float64)
    if isinstance(scorer, Selector):
        indices = scorer.select(document, values, policy)
    else:
        indices = select(document, values, policy)
    return Summary.from_indices(document, policy.unit, scorer.name, values, indices, tidy)
