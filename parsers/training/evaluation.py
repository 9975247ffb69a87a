"""Scores of a parser on gold documents: segmentation, trees over gold EDUs and sentences, trees from raw text."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from discsum.document import Document
from discsum.errors import InputWarning
from discsum.parsers.parser import Parser
from discsum.parsers.parseval import METRICS, ParsevalScores, SegmentationScores, parseval, segmentation
from discsum.parsers.training.relation_checks import warn_of_relations
from discsum.parsers.training.score_set import ScoreSet
from discsum.relation_classes import RelationClasses


@dataclass(frozen=True)
class ParserScores(ScoreSet):
    """Scores of segmentation from raw text, of trees over gold EDUs and sentences, and of trees from raw text.

    Constituents from raw text are identified by the start (`raw_start`) or the end (`raw_end`) of their first EDU.
    """

    edus: SegmentationScores
    sentences: SegmentationScores
    gold: ParsevalScores
    raw_start: ParsevalScores
    raw_end: ParsevalScores

    @property
    def selection_score(self) -> float:
        """The score that selects weights: the mean of EDU F1 and of full F1 over gold EDUs and from raw text."""
        return (self.edus.f1 + self.gold.full + self.raw_end.full) / 3

    @property
    def figures(self) -> dict[str, float]:
        """All figures by name, in percent."""
        trees = {"gold": self.gold, "start": self.raw_start, "end": self.raw_end}
        named = {"edus": self.edus.f1, "sentences": self.sentences.f1}
        named |= {f"{name}_{metric}": getattr(scores, metric) for name, scores in trees.items() for metric in METRICS}
        return {name: round(value, 4) for name, value in named.items()}

    def __str__(self) -> str:
        """Return one line for a log."""
        return format_figures(self.figures)


def format_figures(figures: Mapping[str, float]) -> str:
    """Return `ParserScores.figures` in one line."""
    shown = [f"edus {figures['edus']:.1f} sentences {figures['sentences']:.1f}"]
    for name in ("gold", "start", "end"):
        values = "/".join(f"{figures[f'{name}_{metric}']:.1f}" for metric in METRICS)
        shown.append(f"{name} {values}")
    return " ".join(shown)


def evaluate_parser(
    parser: Parser,
    gold: Sequence[Document],
    *,
    rst: bool = False,
    guessed: bool = False,
    classes: RelationClasses | None = None,
) -> ParserScores:
    """Return the scores of `parser` on documents with gold trees.

    A warning says if the parser knows few of their relations.

    Args:
        parser: The parser.
        gold: Documents with gold trees.
        rst: Whether trees are scored by RST-Parseval.
        guessed: Whether any of the gold sentences are guessed from punctuation; signatures say so.
        classes: Classes by which relations are compared, instead of those of the parser's treebank.
    """
    labels = parser.network.labels
    classes = classes or labels.relation_classes
    warn_of_relations(parser.name, {relation for _, relation in labels.labels}, gold, classes)
    compared = partial(parseval, gold, rst=rst, classes=classes, guessed=guessed)
    names = [document.id for document in gold]
    raw = list(parser.parse_many((document.text for document in gold), ids=names))
    with warnings.catch_warnings():
        # The same texts gave the same warnings above.
        warnings.simplefilter("ignore", InputWarning)
        given = [
            parser.parse(document.text, sentences=document.sentences, edus=document.edus, id=document.id)
            for document in gold
        ]
    return ParserScores(
        segmentation(gold, raw),
        segmentation(gold, raw, "sentence", guessed=guessed),
        compared(given),
        compared(raw, from_text=True),
        compared(raw, key="end", from_text=True),
    )
