"""Attention heads: where the matrix `A` of `A . G(X)` comes from. One small file each."""

from __future__ import annotations

from importlib.metadata import entry_points

from discsum.encoder.heads.base import Head, HeadConfig, Prior, UnitTree
from discsum.encoder.heads.c_tree import CTreeHead
from discsum.encoder.heads.c_tree_confidence import CTreeConfidenceHead
from discsum.encoder.heads.c_tree_nuc import CTreeNucHead
from discsum.encoder.heads.c_tree_relation import CTreeRelationHead
from discsum.encoder.heads.d_tree import DTreeHead
from discsum.encoder.heads.dense import DenseHead
from discsum.encoder.heads.dot_product import DotProductHead
from discsum.encoder.heads.fixed_random import FixedRandomHead
from discsum.encoder.heads.learned_random import LearnedRandomHead
from discsum.encoder.heads.mixed import MixedHead
from discsum.encoder.heads.none import NoHead
from discsum.errors import InputError

HEADS: dict[str, type[Head]] = {
    "dot_product": DotProductHead,
    "dense": DenseHead,
    "learned_random": LearnedRandomHead,
    "fixed_random": FixedRandomHead,
    "none": NoHead,
    "d_tree": DTreeHead,
    "c_tree": CTreeHead,
    "c_tree_nuc": CTreeNucHead,
    "c_tree_confidence": CTreeConfidenceHead,
    "c_tree_relation": CTreeRelationHead,
    "mixed": MixedHead,
}


# Packages name heads of theirs in this group of entry points: `sparse = "my_package.sparse:SparseHead"`.
GROUP = "discsum.heads"


def register(name: str, head: type[Head]) -> None:
    """Make a head known under a name, for recipes and saved models of this process.

    A package does so for every process with an entry point of the group `discsum.heads`.

    Raises:
        InputError: A name that is taken, or a class that is no head.
    """
    if HEADS.get(name, head) is not head:
        raise InputError(f"expected a new name for a head, got {name!r}, which is {HEADS[name].__qualname__}")
    if not (isinstance(head, type) and issubclass(head, Head)):
        raise InputError(f"{name}: expected a subclass of {Head.__module__}.Head, got {head!r}")
    HEADS[name] = head


def make_head(name: str, config: HeadConfig) -> Head:
    """Return a new head of that name.

    Raises:
        InputError: An unknown name; the message lists the heads.
    """
    return head_type(name)(config)


def head_type(name: str) -> type[Head]:
    """Return the head of that name: one of discsum's own, a registered one, or that of an installed package.

    Raises:
        InputError: An unknown name; the message lists the heads.
    """
    if name not in HEADS:
        found = {entry.name: entry for entry in entry_points(group=GROUP)}
        if name not in found:
            raise InputError(f"expected a head among {', '.join([*HEADS, *found])}, got {name!r}")
        register(name, found[name].load())
    return HEADS[name]


__all__ = ["HEADS", "Head", "HeadConfig", "Prior", "UnitTree", "head_type", "make_head", "register"]
