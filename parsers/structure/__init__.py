"""Tree structure from split scores: three designs with one interface."""

from __future__ import annotations

from discsum.errors import InputError
from discsum.parsers.structure import chart, greedy
from discsum.parsers.structure.scores import (
    Bracketing,
    Design,
    Expected,
    SplitScorer,
    SplitScores,
    Target,
    joined_nodes,
)

DESIGNS: dict[str, Design] = {"chart": chart.DESIGN, "top_down": greedy.TOP_DOWN, "distance": greedy.DISTANCE}


def design(name: str) -> Design:
    """Return the design of that name.

    Raises:
        InputError: An unknown name; the message lists the designs.
    """
    if name not in DESIGNS:
        raise InputError(f"expected one of the tree designs {', '.join(DESIGNS)}, got {name!r}")
    return DESIGNS[name]


__all__ = [
    "DESIGNS",
    "Bracketing",
    "Design",
    "Expected",
    "SplitScorer",
    "SplitScores",
    "Target",
    "design",
    "joined_nodes",
]
