"""Attention heads: where the matrix `A` of `A . G(X)` comes from. One small file each."""

from __future__ import annotations

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


def make_head(name: str, config: HeadConfig) -> Head:
    """Return a new head of that name.

    Raises:
        InputError: An unknown name; the message lists the heads.
    """
    return head_type(name)(config)


def head_type(name: str) -> type[Head]:
    """Return the head of that name.

    Raises:
        InputError: An unknown name; the message lists the heads.
    """
    if name not in HEADS:
        raise InputError(f"expected a head among {', '.join(HEADS)}, got {name!r}")
    return HEADS[name]


__all__ = ["HEADS", "Head", "HeadConfig", "Prior", "UnitTree", "head_type", "make_head"]
