"""Scores of trees in a folder, which any parser may have predicted, on gold documents."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from discsum.constants import PARSER_KIND
from discsum.document import Document
from discsum.errors import InputError, few
from discsum.formats import suffixes
from discsum.parsers.parseval import ParsevalScores, SegmentationScores, parseval, segmentation
from discsum.parsers.training.score_set import ScoreSet
from discsum.parsers.tree_folder import SHOWN, has_trees, read_folder
from discsum.persistence import CONFIG, read_config
from discsum.relation_classes import RelationClasses


def is_tree_folder(name: str | Path) -> bool:
    """Return whether this is a folder of tree files, and not that of a model or of a training run."""
    folder = Path(name)
    # First, because a folder of models is read whole in search of trees.
    if not folder.is_dir() or any((inside / CONFIG).is_file() for inside in (folder, *folder.iterdir())):
        return False
    return has_trees(folder)


def check_system(name: str) -> None:
    """Check the name of a parser or of a folder of tree files, without reading weights or trees.

    Raises:
        InputError: A single tree file, or a folder of neither.
        WeightsError: No such model, or one of another kind.
    """
    path, endings = Path(name), suffixes()
    if path.is_file() and path.suffix.lower() in endings:
        raise InputError(f"{name}: expected a parser or a folder of tree files, got a file; name its folder")
    if path.is_dir() and not has_trees(path):
        raise InputError(
            f"{name}: expected the folder of a parser, or a folder of tree files ({', '.join(sorted(endings))}), found "
            "neither"
        )
    if not is_tree_folder(name):
        read_config(name, PARSER_KIND)


def read_predictions(folder: Path, gold: Sequence[Document]) -> tuple[list[Document], bool]:
    """Return a folder's trees of the gold documents, in their order, and whether any of their sentences are guessed.

    Raises:
        InputError: A gold document without a tree of that name in the folder.
    """
    found = read_folder(folder)
    missing = [document.id for document in gold if document.id not in found.documents]
    if missing:
        raise InputError(
            f"{folder}: expected a tree file for each of the {len(gold)} gold documents, named like it, found none for "
            f"{few(missing, SHOWN)}"
        )
    return [found.documents[document.id] for document in gold], any(one.id in found.guessed for one in gold)


@dataclass(frozen=True)
class TreeScores(ScoreSet):
    """Scores of predicted trees: over gold EDUs only `gold`, otherwise all others, as in `ParserScores`."""

    edus: SegmentationScores | None = None
    sentences: SegmentationScores | None = None
    gold: ParsevalScores | None = None
    raw_start: ParsevalScores | None = None
    raw_end: ParsevalScores | None = None


def evaluate_trees(
    gold: Sequence[Document],
    predicted: Sequence[Document],
    *,
    rst: bool = False,
    guessed: bool = False,
    unsure: bool = False,
    classes: RelationClasses | None = None,
) -> TreeScores:
    """Return the scores of trees that any parser predicted for the texts of gold documents.

    Args:
        gold: Documents with gold trees.
        predicted: The predictions, in the same order.
        rst: Whether trees are scored by RST-Parseval.
        guessed: Whether any of the gold sentences are guessed from punctuation; signatures say so.
        unsure: Whether any of the predicted sentences are guessed; they are then not scored.
        classes: Classes by which relations are compared; by default those of `parseval`.
    """
    compared = partial(parseval, gold, predicted, rst=rst, guessed=guessed or unsure, classes=classes)
    over_gold = compared()
    if dict(over_gold.signature.fields)["edus"] == "gold":
        return TreeScores(gold=over_gold)
    return TreeScores(
        segmentation(gold, predicted),
        None if unsure else segmentation(gold, predicted, "sentence", guessed=guessed),
        None,
        compared(from_text=True),
        compared(key="end", from_text=True),
    )
