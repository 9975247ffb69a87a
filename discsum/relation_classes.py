"""Coarse classes of a treebank's relations, which labels are learned and scored by."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Annotated, Self

from discsum.recipes.fields import Checked, about
from discsum.tree import is_same_unit, relation_class


@dataclass(frozen=True)
class RelationClasses(Checked):
    """The class of each relation; saved with a parser.

    By default those of GUM: `elaboration-additional` is of the class `elaboration`.
    """

    names: Annotated[dict[str, str], about("Classes by relation.")] = field(default_factory=dict)
    prefix: Annotated[
        bool, about("Whether any other relation's class is the part before its first hyphen, or it has its own.")
    ] = True

    @classmethod
    def of(cls, relations: Iterable[str], names: Mapping[str, str]) -> Self:
        """Return the classes of a treebank with these relations, of which `names` has some or all.

        Parts before hyphens are classes where all relations that `names` leaves out have hyphens, as GUM's do. Names
        such as `solutionhood` beside `volitional-cause` are classes of their own.
        """
        others = [relation for relation in relations if relation not in names and not is_same_unit(relation)]
        return cls(dict(names), bool(others) and all(relation.find("-") > 0 for relation in others))

    def __call__(self, relation: str) -> str:
        """Return the class of a relation."""
        return self.names.get(relation) or (relation_class(relation) if self.prefix else relation)

    @property
    def kind(self) -> str:
        """How figures by these classes are signed: `classes`, or `labels` if each relation is its own class.

        Classes of one's own are signed with a digest of them: figures by other ones cannot be compared.
        """
        if self.names:
            content = json.dumps(self.to_dict(), sort_keys=True)
            return f"classes-{hashlib.sha256(content.encode()).hexdigest()[:8]}"
        return "classes" if self.prefix else "labels"


GUM_CLASSES = RelationClasses()
