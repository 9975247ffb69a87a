"""Evaluation on rows of a table of texts with summaries, or of a dataset folder."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from discsum.data.prepared import is_dataset_folder
from discsum.data.summaries import read_pairs
from discsum.data.tables import Failure
from discsum.errors import InputError
from discsum.experiments.comparison import ModelScores, compare_models, text_blocks, text_signature
from discsum.experiments.systems import System
from discsum.selection import Policy

if TYPE_CHECKING:
    from discsum.parsers.parser import Parser

# Shows progress through a number of documents.
Counting = Callable[[int], AbstractContextManager[Callable[[int], None]]]


@dataclass(frozen=True)
class MeasuredRows:
    """Rows `first` to `last`, exclusive, of a table or of a dataset folder; columns are those of a table."""

    path: Path
    text_column: str | None = None
    summary_column: str | None = None
    first: int = 0
    last: int | None = None


def measure(
    systems: Sequence[System],
    rows: MeasuredRows,
    policy: Policy,
    parser: Callable[[], Parser],
    failed: Callable[[Failure], None],
    counting: Counting,
) -> list[ModelScores]:
    """Return the scores of models.

    Args:
        systems: The summarizers.
        rows: The documents.
        policy: Unit and length of the summaries.
        parser: Returns the parser of a table's texts.
        failed: Receives the rows that cannot be read.
        counting: Shows progress.

    Raises:
        InputError: No documents.
    """
    if is_dataset_folder(rows.path):
        from discsum.experiments.blocks import DatasetBlocks

        dataset = DatasetBlocks(rows.path, policy.unit, rows.first, rows.last)
        _check_any(rows, len(dataset))
        with counting(len(dataset)) as show:
            return compare_models(dataset.blocks(show), systems, policy.unit, dataset.signature)
    pairs = []
    columns = {"text_column": rows.text_column, "summary_column": rows.summary_column}
    for pair in read_pairs(rows.path, **columns, first=rows.first, last=rows.last):
        if isinstance(pair, Failure):
            failed(pair)
        else:
            pairs.append(pair)
    _check_any(rows, len(pairs))
    engine = parser()
    with counting(len(pairs)) as show:
        blocks = text_blocks(pairs, engine, policy, show)
        return compare_models(blocks, systems, policy.unit, text_signature(engine))


def _check_any(rows: MeasuredRows, documents: int) -> None:
    if not documents:
        raise InputError(f"{rows.path}: expected texts with reference summaries, got none")
