"""Tree structure from split scores: three designs with one interface."""

from __future__ import annotations

from discsum.parsers.structure import chart, greedy
from discsum.parsers.structure.scores import Design, Expected, SplitScorer, SplitScores, joined_nodes

DESIGNS: dict[str, Design] = {"chart": chart.DESIGN, "top_down": greedy.TOP_DOWN, "distance": greedy.DISTANCE}

__all__ = ["DESIGNS", "Expected", "SplitScorer", "SplitScores", "joined_nodes"]
