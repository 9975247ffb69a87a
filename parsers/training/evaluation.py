"""A parser's figures on gold documents: segmentation, trees over gold EDUs, trees from raw text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from discsum.document import Document
from discsum.parsers.parser import Parser
from discsum.parsers.parseval import ParsevalScores, SegmentationScores, parseval, segmentation

# Of a tree's scores, in the order in which they are shown.
PARTS = ("span", "nuclearity", "relation", "full")


@dataclass(frozen=True)
class ParserScores:
    """All that is published of a parser.

    Attributes:
        edus: Segmentation into EDUs, from raw text.
        sentences: Segmentation into sentences, from raw text.
        gold: Trees over gold EDUs (and gold sentences).
        raw_start: Trees from raw text, constituents named by the start of their first EDU.
        raw_end: Trees from raw text, constituents named by the end of their first EDU.
    """

    edus: SegmentationScores
    sentences: SegmentationScores
    gold: ParsevalScores
    raw_start: ParsevalScores
    raw_end: ParsevalScores

    @property
    def selection_score(self) -> float:
        """The number to choose weights by: mean of segmentation F1 and full F1, with gold EDUs and from text."""
        return (self.edus.f1 + self.gold.full + self.raw_end.full) / 3

    @property
    def figures(self) -> dict[str, float]:
        """All figures by name, in percent."""
        trees = {"gold": self.gold, "start": self.raw_start, "end": self.raw_end}
        named = {"edus": self.edus.f1, "sentences": self.sentences.f1}
        named |= {f"{name}_{part}": getattr(scores, part) for name, scores in trees.items() for part in PARTS}
        return {name: round(value, 4) for name, value in named.items()}

    def to_dict(self) -> dict[str, Any]:
        """Return all figures with their signatures."""
        return {name: asdict(scores) | {"signature": str(scores.signature)} for name, scores in vars(self).items()}

    def __str__(self) -> str:
        """Return one line for a log."""
        return in_one_line(self.figures)


def in_one_line(figures: Mapping[str, float]) -> str:
    """Return a parser's figures, by their names in `ParserScores.figures`, in one line."""
    shown = [f"edus {figures['edus']:.1f} sentences {figures['sentences']:.1f}"]
    for name in ("gold", "start", "end"):
        values = "/".join(f"{figures[f'{name}_{part}']:.1f}" for part in PARTS)
        shown.append(f"{name} {values}")
    return " ".join(shown)


def evaluate_parser(
    parser: Parser, gold: Sequence[Document], *, rst: bool = False, batch_size: int = 8
) -> ParserScores:
    """Return the scores of `parser` on documents with gold trees; `rst` asks for RST-Parseval."""
    raw = list(parser.parse_many((document.text for document in gold), batch_size=batch_size))
    given = [
        parser.parse(document.text, sentences=document.sentences, edus=document.edus, id=document.id)
        for document in gold
    ]
    return ParserScores(
        segmentation(gold, raw),
        segmentation(gold, raw, "sentence"),
        parseval(gold, given, rst=rst),
        parseval(gold, raw, rst=rst),
        parseval(gold, raw, key="end", rst=rst),
    )
