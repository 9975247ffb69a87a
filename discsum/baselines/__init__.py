"""Extractive summarizers that need no training, by name in `BASELINES`."""

from __future__ import annotations

from collections.abc import Callable

from discsum.baselines.lead import Lead
from discsum.baselines.marcu import Marcu
from discsum.baselines.random import Random
from discsum.baselines.textrank import TextRank
from discsum.baselines.tree_knapsack import TreeKnapsack
from discsum.errors import InputError
from discsum.scoring import UnitScorer

BASELINES: dict[str, Callable[..., UnitScorer]] = {
    "lead": Lead,
    "random": Random,
    "textrank": TextRank,
    "marcu": Marcu,
    "tree-knapsack": TreeKnapsack,
}


def baseline(name: str, **options: object) -> UnitScorer:
    """Return the baseline of this name; `options` are its fields, as `seed` for `random`.

    Raises:
        InputError: An unknown name; the message lists the choices.
    """
    if name not in BASELINES:
        raise InputError(f"expected a baseline out of {', '.join(BASELINES)}, got {name!r}")
    return BASELINES[name](**options)
