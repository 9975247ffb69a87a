"""Base class of baselines that select all units at once, as a rooted subtree of the dependency tree."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from discsum.dependency import edu_heads, group_heads, sentence_heads
from discsum.document import Document
from discsum.errors import InputError
from discsum.scoring import Scores, UnitScorer
from discsum.selection import Policy, checked_scores, unit_texts


@dataclass(frozen=True)
class Subtrees:
    """The dependency tree whose rooted subtrees can be selected; a clause of several units is one node.

    Attributes:
        heads: `(nodes,)` node that each node depends on; the root depends on itself.
        costs: `(nodes,)` cost of each node, including the speaker label of its turn, so that the label always fits.
        capacity: Budget in the same unit as `costs`.
        nodes: `(units,)` node of each unit.
        counted: `(units,)` whether a unit counts; layout has neither weight nor cost.
    """

    heads: NDArray[np.int64]
    costs: NDArray[np.int64]
    capacity: int
    nodes: NDArray[np.int64]
    counted: NDArray[np.bool_]


class RootedSubtree(UnitScorer):
    """A scorer that selects a rooted subtree; subclasses choose its nodes."""

    needs_tree = True
    own_selection = True

    def complete(self, policy: Policy) -> Policy:
        """Return a policy without open fields.

        Raises:
            InputError: The policy blocks trigrams, which this selection cannot do; or as for all scorers.
        """
        if policy.block_trigrams:
            raise InputError(
                f"block_trigrams: cannot be used with {self.name}, which selects all units at once; leave it out"
            )
        return super().complete(policy)

    @abstractmethod
    def best(self, document: Document, scores: Scores, unit: str, subtrees: Subtrees, *, own: bool) -> list[int]:
        """Return the nodes of the best subtree within the capacity, each with its head; `own` as in `select`."""

    def select(self, document: Document, scores: Scores, policy: Policy, *, own: bool = True) -> list[int]:
        """Return the units of the best rooted subtree (the root if nothing fits), or the best unit if it is all layout.

        By construction, every ancestor of a selected unit is selected, so `policy.dependencies` holds.

        Raises:
            InputError: As for `discsum.selection.select`.
        """
        scores = checked_scores(scores, len(unit_texts(document, policy.unit)))
        candidates = policy.candidates(document)
        costs, capacity = policy.budget.costs(document, policy.unit, candidates)
        _, nodes = np.unique(candidates.groups, return_inverse=True)
        heads = group_heads(self.heads(document, policy.unit), nodes)
        labels = candidates.labels
        paid = costs + np.where(labels >= 0, costs[labels], 0)
        prices = np.bincount(nodes, np.where(candidates.companions, paid, 0)).astype(np.int64)
        subtrees = Subtrees(heads, prices, capacity, nodes, candidates.companions)
        chosen = self.best(document, scores, policy.unit, subtrees, own=own)
        selected = np.flatnonzero(np.isin(nodes, chosen) & candidates.companions)
        if candidates.allowed[selected].any():
            return sorted({*selected.tolist(), *labels[selected][labels[selected] >= 0].tolist()})
        return candidates.together(int(np.argmax(np.where(candidates.allowed, scores, -np.inf))))

    def heads(self, document: Document, unit: str) -> NDArray[np.int64]:
        """Return the head of every unit `(units,)`; the root is its own head."""
        heads = edu_heads(document.require_tree(self.name))
        if unit == "edu":
            return heads
        return sentence_heads(heads, document.edu_to_sentence, len(document.sentences))
