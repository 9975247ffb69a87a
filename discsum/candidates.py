"""Which units of a document may be selected, and which are selected together."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from discsum.dependency import edu_heads, in_sentence_heads, same_unit_groups
from discsum.document import Document
from discsum.layout import BODY, LIST


@dataclass(frozen=True)
class Candidates:
    """The units of a document as candidates for selection.

    Attributes:
        allowed: `(units,)` whether a unit may be selected on its own; see `skip_layout` of `of`.
        companions: `(units,)` whether it may be selected along with others: a part of prose, even a single word.
        groups: `(units,)` first unit of the group that is selected together: the parts of a clause that `same-unit`
            relations connect.
        heads: `(units,)` the unit that each unit brings along, -1 for none: with dependencies between EDUs, the EDU of
            the same sentence that it depends on.
        labels: `(units,)` the unit that is the speaker label of each unit's turn, -1 for none.
    """

    allowed: NDArray[np.bool_]
    companions: NDArray[np.bool_]
    groups: NDArray[np.int64]
    heads: NDArray[np.int64]
    labels: NDArray[np.int64]

    @classmethod
    def of(cls, document: Document, unit: str, *, dependencies: bool = False, skip_layout: bool = False) -> Candidates:
        """Return the candidates of a document.

        Args:
            document: Segmented, and with a tree if `dependencies`.
            unit: `sentence` or `edu`.
            dependencies: Whether EDUs bring along the EDUs of their sentence that they depend on.
            skip_layout: Whether only prose is allowed. A text without prose has its list fragments allowed, and one
                without these everything but the labels of turns.
        """
        spans = document.units(unit)
        none = np.full(len(spans), -1, dtype=np.int64)
        groups, heads, labels = np.arange(len(spans)), none, none
        allowed = companions = np.ones(len(spans), dtype=bool)
        if unit == "edu" and document.tree is not None and spans:
            groups = same_unit_groups(document.tree)
        if dependencies and spans:
            heads = in_sentence_heads(edu_heads(document.require_tree("dependencies")), document.edu_to_sentence)
        if skip_layout and spans:
            layout, offsets = document.text_layout, [(span.start, span.end) for span in spans]
            kinds = np.array(layout.kinds(offsets))
            labels = np.array(layout.labels(offsets), dtype=np.int64)
            speakers = np.isin(np.arange(len(spans)), labels[labels >= 0])
            # Prose, or else the fragments of lists, or else everything but the labels of turns.
            allowed = next(mask for mask in (kinds == BODY, kinds == LIST, ~speakers) if mask.any())
            companions = allowed
            if unit == "edu":
                companions = allowed | (np.array(document.layout)[document.edu_to_sentence] == BODY)
        return cls(allowed, companions, groups, heads, labels)

    @cached_property
    def _members(self) -> dict[int, list[int]]:
        """The units of each group."""
        found: dict[int, list[int]] = {}
        for unit, group in enumerate(self.groups.tolist()):
            found.setdefault(group, []).append(unit)
        return found

    def together(self, unit: int) -> list[int]:
        """Return the unit and all units that are selected together with it, in order.

        Headings and other layout are left out, except for a turn's speaker label.
        """
        found, waiting = set[int](), [unit]
        while waiting:
            one = waiting.pop()
            if one < 0 or one in found:
                continue
            found.add(one)
            waiting += [int(self.heads[one]), int(self.labels[one]), *self._members[int(self.groups[one])]]
        labels = {int(self.labels[one]) for one in found}
        return sorted(int(one) for one in found if self.companions[one] or one in labels)

    def unit_costs(self) -> NDArray[np.int64]:
        """Return the cost of each unit `(units,)` in units: a group counts once, a label of a turn does not count."""
        costs = np.zeros(len(self.groups), dtype=np.int64)
        labels = set(self.labels.tolist())
        # The first member that is selected with the group; headings in it are not.
        paying = (
            next((one for one in own if self.companions[one] and one not in labels), own[0])
            for own in self._members.values()
        )
        costs[[*paying]] = 1
        costs[self.labels[self.labels >= 0]] = 0
        return costs
