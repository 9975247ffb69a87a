"""Measure the share of EDU summaries with half a clause, with and without selecting both halves together.

    python tests/benchmarks/half_clauses.py PATH/TO/cnndm/test.jsonl.gz

The halves of a clause are the EDUs that a `same-unit` node connects. "bound" summaries select them together; in
"unbound" ones each EDU is a separate candidate.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from discsum.candidates import Candidates
from discsum.data.failures import Failure
from discsum.data.pairs import PairSource
from discsum.document import Document
from discsum.selection import Policy
from discsum.summarizer.loading import load_pipeline
from discsum.summarizer.options import SummaryOptions


class Unbound(Policy):
    """A policy in which each EDU is a separate candidate."""

    def candidates(self, document: Document) -> Candidates:
        """Return the candidates without groups."""
        found = super().candidates(document)
        return replace(found, groups=np.arange(len(found.groups)))


def has_half(document: Document, selected: Sequence[int]) -> bool:
    """Return whether some clause is only partly selected."""
    groups = Candidates.of(document, "edu").groups
    chosen = np.isin(np.arange(len(groups)), selected)
    return any(chosen[groups == group].any() and not chosen[groups == group].all() for group in np.unique(groups))


def main() -> None:
    """Print both shares."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("table", type=Path)
    parser.add_argument("--last", type=int, help="number of documents")
    arguments = parser.parse_args()
    source = PairSource(str(arguments.table))
    pairs = [pair for pair in source.pairs(last=arguments.last) if not isinstance(pair, Failure)]
    bound = load_pipeline(SummaryOptions(unit="edu"))
    policy = Unbound(**{name: getattr(bound.policy, name) for name in Policy.__dataclass_fields__})
    for name, pipeline in (("bound", bound), ("unbound", replace(bound, policy=policy))):
        summaries = list(pipeline.many([pair.text for pair in pairs]))
        halves = sum(has_half(one.document, [unit.index for unit in one.selected]) for one in summaries)
        print(
            f"{name}: {halves} of {len(summaries)} summaries hold half a clause ({100 * halves / len(summaries):.1f}%)"
        )


if __name__ == "__main__":
    main()
