"""The classes of relations by which trees are scored: from a recipe, and a warning about relations that never match."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence

from discsum.document import Document
from discsum.errors import InputError, warn_caller
from discsum.recipes import read_recipe
from discsum.recipes.fields import shown
from discsum.relation_classes import RelationClasses


def recipe_classes(recipe: str) -> dict[str, str]:
    """Return the classes in a recipe, by its name or file: the class of each relation, or pattern of relations.

    Raises:
        InputError: No such recipe, or one without classes in the field `classes`.
    """
    names = read_recipe(recipe).get("classes")
    if not names or not isinstance(names, dict) or not all(isinstance(name, str) for name in names.values()):
        raise InputError(
            f"{recipe}: expected a recipe with classes of relations, such as parser-rst-dt, or a YAML file with "
            f"classes: {{list*: joint, disjunction*: joint}}, got classes: {shown(names)}"
        )
    return {str(relation): name for relation, name in names.items()}


def relations_of(documents: Sequence[Document]) -> Counter[str]:
    """Return how many nodes of the documents' trees have each relation."""
    return Counter(node.relation for document in documents if document.tree for node in document.tree.nodes)


def warn_of_relations(
    name: str, predicted: Collection[str], gold: Sequence[Document], classes: RelationClasses
) -> None:
    """Warn if the relations that a parser predicts share no class with most nodes of the gold trees."""
    known = {classes.scored(relation) for relation in predicted}
    found = Counter[str]()
    for relation, count in relations_of(gold).items():
        found[classes.scored(relation)] += count
    unknown = Counter({relation: count for relation, count in found.items() if relation not in known})
    if known and 2 * unknown.total() > found.total():
        most = ", ".join(relation for relation, _ in unknown.most_common(3))
        remedy = (
            "add them to the classes"
            if classes.names
            else "--classes (in Python parseval(classes=...)) maps both to the same classes"
        )
        message = (
            f"{name}: expected relations such as {', '.join(sorted(known)[:3])}, got others at {unknown.total()} of "
            f"{found.total()} nodes of the gold trees (most often {most}), which count as wrong in R and F; {remedy}"
        )
        warn_caller(message)
