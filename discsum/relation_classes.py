"""Coarse classes of a treebank's relations, by which labels are learned and scored."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Annotated, Self

from discsum.constants import UNATTACHED
from discsum.recipes.fields import Checked, about
from discsum.tree import is_same_unit, relation_class


@dataclass(frozen=True)
class RelationClasses(Checked):
    """The class of each relation; saved with a parser.

    By default the classes are GUM's: `elaboration-additional` belongs to the class `elaboration`.
    """

    names: Annotated[
        dict[str, str], about("Classes by relation, or by a pattern of relations such as `elaboration-*`.")
    ] = field(default_factory=dict)
    prefix: Annotated[
        bool, about("Whether any other relation belongs to the class before its first hyphen, or is its own class.")
    ] = True

    @classmethod
    def of(cls, relations: Iterable[str], names: Mapping[str, str]) -> Self:
        """Return the classes of a treebank's relations; `names` has the classes of some or all of them.

        If all relations that `names` leaves out have hyphens, as in GUM, their classes are the parts before the first
        hyphen. Otherwise, as with `solutionhood` beside `volitional-cause`, each of them is its own class. `same-unit`
        and `unattached`, which are no relations of the treebank, do not matter.
        """
        named = cls(dict(names))
        others = [
            one for one in relations if named.name_of(one) is None and not is_same_unit(one) and one != UNATTACHED
        ]
        return cls(dict(names), bool(others) and all(relation.find("-") > 0 for relation in others))

    def __call__(self, relation: str) -> str:
        """Return the class of a relation."""
        return self.names.get(self.name_of(relation) or "") or (relation_class(relation) if self.prefix else relation)

    def scored(self, relation: str) -> str:
        """Return the class of a relation for a comparison of trees by different parsers.

        `Same-Unit` equals `same-unit`, and a relation that is named like a class, such as `Joint`, equals the class,
        whatever its case.
        """
        found = self(relation)
        if is_same_unit(found):
            return "same-unit"
        named = next((name for name in self.names.values() if name.casefold() == found.casefold()), None)
        return named or (found.casefold() if self.prefix else found)

    def name_of(self, relation: str) -> str | None:
        """Return the relation or the longest pattern in `names` that it matches, whatever its case; None if none."""
        if relation in self.names:
            return relation
        matched = [name for name in self.names if "*" in name and fnmatchcase(relation.lower(), name.lower())]
        return max(matched, key=len, default=None)

    @property
    def kind(self) -> str:
        """The classes as signatures of figures name them: `classes`, or `labels` if each relation is its own class.

        Custom classes are named with a digest, because figures by different classes cannot be compared.
        """
        if self.names:
            content = json.dumps(self.to_dict(), sort_keys=True)
            return f"classes-{hashlib.sha256(content.encode()).hexdigest()[:8]}"
        return "classes" if self.prefix else "labels"


GUM_CLASSES = RelationClasses()
