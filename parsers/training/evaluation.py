"""A parser's figures on gold documents: segmentation, trees over gold EDUs, trees from raw text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from discsum.document import Document
from discsum.parsers.parser import Parser
from discsum.parsers.parseval import ParsevalScores, SegmentationScores, parseval, segmentation


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
    def summary(self) -> float:
        """The number to choose weights by: mean of segmentation F1 and full F1, with gold EDUs and from text."""
        return (self.edus.f1 + self.gold.full + self.raw_end.full) / 3

    def to_dict(self) -> dict[str, Any]:
        """Return all figures with their signatures."""
        return {name: asdict(scores) | {"signature": str(scores.signature)} for name, scores in vars(self).items()}

    def __str__(self) -> str:
        """Return one line for a log."""
        trees = (
            f"{name} {scores.span:.1f}/{scores.nuclearity:.1f}/{scores.relation:.1f}/{scores.full:.1f}"
            for name, scores in (("gold", self.gold), ("start", self.raw_start), ("end", self.raw_end))
        )
        return f"edus {self.edus.f1:.1f} sentences {self.sentences.f1:.1f} {' '.join(trees)}"


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
