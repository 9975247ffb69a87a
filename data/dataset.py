"""Dataset folders as `datasets.Dataset`s and as training examples."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from discsum.data.manifest import Manifest
from discsum.document import Document
from discsum.encoder.features import unit_features
from discsum.encoder.inputs import UnitInputs, read_prior
from discsum.encoder.synthesizer import SynthesizerConfig
from discsum.errors import InputError, MissingExtraError
from discsum.training.examples import Example

if TYPE_CHECKING:
    from datasets import Dataset


def load(folder: str | Path, *, check: bool = True) -> Dataset:
    """Return the documents of a dataset folder, in order, mapped from disk.

    Columns: those of `Document.to_json`; `references`; by unit `sentence_labels` and `edu_labels`; and if units were
    encoded `sentence_vectors` and `edu_vectors`: `(units, width)` float16 as bytes, row after row.

    Args:
        folder: What `discsum preprocess` made.
        check: Whether every file is checked against its checksum first.

    Raises:
        InputError: A folder that is none or not finished, or a file that is missing or altered.
    """
    try:
        from datasets import Dataset
    except ImportError as error:
        raise MissingExtraError(
            "Dataset folders need the library datasets. Please run: pip install datasets"
        ) from error
    folder = Path(folder)
    manifest = Manifest.read(folder)
    if check:
        manifest.check(folder)
    return Dataset.from_parquet([str(folder / shard.file) for shard in manifest.shards if shard.documents])


class UnitExamples(torch.utils.data.Dataset[Example]):
    """The examples of a dataset folder, read from disk as they are asked for; `collate` makes batches of them."""

    def __init__(self, folder: str | Path, unit: str, network: SynthesizerConfig) -> None:
        """Read the `unit`s of a folder that was made with vectors; priors are those of the network's head.

        Raises:
            InputError: The folder has not these units, or no vectors.
        """
        self.unit, self.network = unit, network
        self.rows = load(folder)
        self.width = Manifest.read(Path(folder)).width
        missing = {f"{unit}_labels", f"{unit}_vectors"} - set(self.rows.column_names)
        if missing:
            raise InputError(
                f"{folder}: expected the columns {', '.join(sorted(missing))}; "
                f"preprocess with --unit {unit} and --encoder"
            )

    def __len__(self) -> int:
        """Return the number of documents."""
        return len(self.rows)

    def __getitem__(self, index: int) -> Example:
        """Return one document's example; of a document with more than `max_units` units the first of them."""
        row: dict[str, Any] = self.rows[index]
        document = Document.from_json(row)
        limit = self.network.max_units
        labels = np.array(row[f"{self.unit}_labels"][:limit], dtype=np.int64)
        content = np.frombuffer(row[f"{self.unit}_vectors"], dtype=np.float16)
        vectors = torch.from_numpy(content.reshape(-1, self.width)[:limit].astype(np.float32))
        features = torch.from_numpy(unit_features(document, self.unit)[:limit])
        prior = read_prior(document, self.unit, 0, len(labels), self.network.head, self.network.for_head())
        return Example(document, tuple(row["references"]), UnitInputs(0, vectors, features, prior), labels)

    def __iter__(self) -> Iterator[Example]:
        """Yield the examples in order."""
        return (self[index] for index in range(len(self)))
