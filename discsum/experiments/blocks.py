"""Parsed documents of dataset folders, for evaluation."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import torch

from discsum.data.dataset import load
from discsum.data.manifest import Manifest
from discsum.document import Document
from discsum.errors import InputError
from discsum.experiments.comparison import BATCH
from discsum.experiments.systems import Block
from discsum.scoring import ParsedDocument
from discsum.signature import Signature


class DatasetBlocks:
    """The documents of a dataset folder, with its trees, labels and vectors.

    Attributes:
        signature: Settings of the folder that scores depend on.
    """

    def __init__(self, folder: Path, unit: str, first: int = 0, last: int | None = None) -> None:
        """Open a folder with labels of the unit.

        Raises:
            InputError: No dataset folder, or one without labels of the unit.
        """
        self.unit = unit
        self.manifest = Manifest.read(folder)
        rows = load(folder)
        if f"{unit}_labels" not in rows.column_names:
            raise InputError(f"{folder}: expected labels of the unit {unit}; preprocess with --unit {unit}")
        chosen = range(len(rows))[first:last]
        self.rows = rows.select(chosen if len(chosen) else [])
        recipe = self.manifest.recipe
        made_by = recipe["made_by"]
        # As `ExtractiveSummarizer.vectors_key`.
        self.vectors_key = (made_by["parser"], recipe["encoder"], made_by.get("encoder", ""), unit)
        parser = f"{recipe['parser']}@{made_by['parser'][:8]}"
        self.signature = Signature.of(
            parser=parser, oracle=recipe["oracle"], oracle_units=recipe["oracle_units"] or "own"
        )

    def __len__(self) -> int:
        """Return the number of documents."""
        return len(self.rows)

    def blocks(self, report: Callable[[int], None] = lambda done: None) -> Iterator[Block]:
        """Yield the documents; `report` receives the number done."""
        for start in range(0, len(self.rows), BATCH):
            rows: list[dict[str, Any]] = [self.rows[index] for index in range(len(self.rows))[start : start + BATCH]]
            labels = [np.array(row[f"{self.unit}_labels"], dtype=np.int8) for row in rows]
            yield Block([self._parsed(row) for row in rows], [tuple(row["references"]) for row in rows], labels)
            report(start + len(rows))

    def _parsed(self, row: dict[str, Any]) -> ParsedDocument:
        """Return a document with its unit vectors, if the folder has them."""
        document = Document.from_json(row)
        if f"{self.unit}_vectors" not in row:
            return ParsedDocument(document)
        content = np.frombuffer(row[f"{self.unit}_vectors"], dtype=np.float16).reshape(-1, self.manifest.width)
        return ParsedDocument(document, {self.vectors_key: torch.from_numpy(content.astype(np.float32))})
