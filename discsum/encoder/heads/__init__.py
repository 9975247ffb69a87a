"""Attention heads: where the matrix `A` of `A . G(X)` comes from. One small file each."""

from __future__ import annotations

from discsum.encoder.heads.base import Head, HeadConfig
from discsum.encoder.heads.c_tree_nuc import CTreeNucHead
from discsum.errors import InputError

HEADS: dict[str, type[Head]] = {"c_tree_nuc": CTreeNucHead}


def make_head(name: str, config: HeadConfig) -> Head:
    """Return a new head of that name.

    Raises:
        InputError: An unknown name; the message lists the heads.
    """
    if name not in HEADS:
        raise InputError(f"expected a head among {', '.join(HEADS)}, got {name!r}")
    return HEADS[name](config)


__all__ = ["HEADS", "Head", "HeadConfig", "make_head"]
