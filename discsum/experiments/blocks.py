"""Dataset folders as parsed documents to measure summarizers on."""

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
from discsum.experiments.comparison import BATCH, Block, Scores
from discsum.signature import Signature
from discsum.summarizer.extractive import ExtractiveSummarizer


class DatasetBlocks:
    """The documents of a dataset folder, with the trees, labels and vectors that it has.

    Attributes:
        signature: What figures on them depend on.
    """

    def __init__(self, folder: Path, unit: str, first: int = 0, last: int | None = None) -> None:
        """Read a folder that was labelled for the unit.

        Raises:
            InputError: A folder that is none, or has no labels of the unit.
        """
        self.unit = unit
        self.manifest = Manifest.read(folder)
        rows = load(folder)
        if f"{unit}_labels" not in rows.column_names:
            raise InputError(f"{folder}: expected labels of the unit {unit}; preprocess with --unit {unit}")
        chosen = range(len(rows))[first:last]
        self.rows = rows.select(chosen if len(chosen) else [])
        recipe = self.manifest.recipe
        self.parser, self.encoder = recipe["made_by"]["parser"], recipe["encoder"]
        units = recipe["oracle_units"] or "own"
        named = f"{recipe['parser']}@{self.parser[:8]}"
        self.signature = Signature.of(parser=named, oracle=recipe["oracle"], oracle_units=units)

    def __len__(self) -> int:
        """Return the number of documents."""
        return len(self.rows)

    def blocks(self, report: Callable[[int], None] = lambda done: None) -> Iterator[Block]:
        """Yield the documents; `report` takes how many are done."""
        for start in range(0, len(self.rows), BATCH):
            rows: list[dict[str, Any]] = [self.rows[index] for index in range(len(self.rows))[start : start + BATCH]]
            documents = [Document.from_json(row) for row in rows]

            def scores(model: ExtractiveSummarizer, rows: Any = rows, documents: Any = documents) -> list[Scores]:
                return [self._scores(model, row, document) for row, document in zip(rows, documents, strict=True)]

            labels = [np.array(row[f"{self.unit}_labels"], dtype=np.int8) for row in rows]
            yield Block(documents, [tuple(row["references"]) for row in rows], labels, scores)
            report(start + len(rows))

    def _scores(self, model: ExtractiveSummarizer, row: dict[str, Any], document: Document) -> Scores:
        digest = self.manifest.recipe["made_by"].get("encoder", "")
        config = model.config
        same = (model.parser.fingerprint, config.vectors, config.encoder) == (self.parser, self.encoder, digest)
        if not same or config.encoder_layers or f"{self.unit}_vectors" not in row:
            return model.score(document, self.unit)
        content = np.frombuffer(row[f"{self.unit}_vectors"], dtype=np.float16)
        return model.confidences(
            document, torch.from_numpy(content.reshape(-1, self.manifest.width).astype(np.float32))
        )
