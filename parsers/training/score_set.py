"""Scores of one system on gold documents, with signatures, the counts of each document, and comparisons."""

from __future__ import annotations

from dataclasses import asdict, astuple, dataclass, replace
from typing import Any

from discsum.errors import InputError
from discsum.metrics.significance import Comparison, paired_bootstrap_f1
from discsum.parsers.parseval import ParsevalScores, SegmentationScores
from discsum.signature import Signature

# Figures that depend on relations.
OF_RELATIONS = ("relation", "full")


@dataclass(frozen=True)
class ScoreSet:
    """The scores of a system on the same documents; each attribute of a subclass has those of one kind, or None."""

    @property
    def parts(self) -> dict[str, SegmentationScores | ParsevalScores]:
        """The scores by attribute, without those that were not measured."""
        return {name: scores for name, scores in vars(self).items() if scores is not None}

    def to_dict(self) -> dict[str, Any]:
        """Return all figures with their signatures."""
        return {
            name: {key: value for key, value in vars(scores).items() if key != "counts"}
            | {"signature": str(scores.signature)}
            for name, scores in self.parts.items()
        }

    def documents(self) -> list[dict[str, Any]]:
        """Return the counts of each document by scores and figure: constituents or starts in gold, predicted, right."""
        parts = self.parts
        first = next(iter(parts.values()))
        return [
            {
                name: {figure: asdict(counts[place]) for figure, counts in scores.counts.items()}
                for name, scores in parts.items()
            }
            for place in range(len(next(iter(first.counts.values()))))
        ]

    def compared(self, other: ScoreSet) -> dict[str, dict[str, Comparison]]:
        """Return the differences to other scores of the same documents, by scores and figure (only F1).

        Scores that only one side has are left out; so are the figures that depend on relations if these are compared by
        other classes.

        Raises:
            InputError: Scores that were measured in another way, or on documents with other gold units, or no score
                that both have.
        """
        if not self.parts.keys() & other.parts.keys():
            kinds = [", ".join(scores.parts) for scores in (self, other)]
            raise InputError(f"expected scores that both have, got {kinds[0]} against {kinds[1]}")
        found: dict[str, dict[str, Comparison]] = {}
        for name, scores in self.parts.items():
            if (theirs := other.parts.get(name)) is None:
                continue
            if _apart_from_origins(scores.signature) != _apart_from_origins(theirs.signature):
                raise InputError(
                    f"expected figures that were measured in the same way, got {scores.signature} and "
                    f"{theirs.signature}"
                )
            same = _relations(scores.signature) == _relations(theirs.signature)
            found[name] = {
                figure: paired_bootstrap_f1(*([astuple(own) for own in one.counts[figure]] for one in (scores, theirs)))
                for figure in scores.counts
                if same or figure not in OF_RELATIONS
            }
        return found


def _apart_from_origins(signature: Signature) -> Signature:
    """Return a signature without the origins of relation classes and of gold units."""
    left_out = ("relations", "sentences", "gold")
    return replace(signature, fields=tuple(field for field in signature.fields if field[0] not in left_out))


def _relations(signature: Signature) -> str | None:
    """Return the classes by which a signature's figures compare relations; None for segmentation."""
    return dict(signature.fields).get("relations")
