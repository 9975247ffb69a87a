"""Training examples of extractive summarizers, read from dataset folders, and their batches."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from discsum.data.examples import Collection
from discsum.data.manifest import Manifest
from discsum.data.prepared import MEMORY
from discsum.data.rows import MEMORY as ROWS_MEMORY
from discsum.data.rows import open_rows
from discsum.data.storage import Location, location
from discsum.document import Document
from discsum.encoder.inputs import UnitInputs, batched, padded, unit_inputs
from discsum.encoder.synthesizer import InputBatch, SynthesizerConfig
from discsum.errors import InputError
from discsum.files import sha256_of_text
from discsum.oracles.rouge12_f import unit_gains
from discsum.selection import unit_texts


@dataclass(frozen=True)
class UnitExample:
    """A parsed document with its references, for training or validation.

    Attributes:
        inputs: Inputs of the network; for a long document, those of its first section.
        labels: `(units,)` 1 for the units that the oracle selects.
        gains: `(units,)` R1-F + R2-F of each unit alone; zeros if they are not requested.
    """

    document: Document
    references: tuple[str, ...]
    inputs: UnitInputs
    labels: NDArray[np.int64]
    gains: NDArray[np.float64]


class UnitExamples(torch.utils.data.Dataset[UnitExample]):
    """The examples of a dataset folder, read from disk on access; `collate` makes batches of them.

    Attributes:
        width: Size of a unit vector.
        encoder: Identity of the Hugging Face encoder of the vectors: `encoder` and `revision`, if any.
        lengths: `(examples,)` number of units of each example.
        blocks: `(examples,)` block of each row; see `DatasetRows.blocks`.
        digest: Identity of the examples' content.
        given_trees: Number of documents in the folder that came with their own tree, by the folder.
    """

    def __init__(
        self,
        folder: str | Location,
        unit: str,
        network: SynthesizerConfig,
        first: int = 0,
        last: int | None = None,
        memory: int = MEMORY,
        encoded: bool = True,
        read: int | None = None,
        gains: bool = False,
    ) -> None:
        """Open a folder.

        Args:
            folder: Output of `discsum preprocess`.
            unit: `sentence` or `edu`.
            network: Its head determines the priors; documents are truncated to its `max_units`.
            first: First document, from 0.
            last: End of the documents, exclusive.
            memory: Size of the cache of examples, in bytes; decoded shards take at most as much again.
            encoded: Whether to read vectors; otherwise examples have vectors of size 0.
            read: Number of units to which an example is truncated; at most `max_units`, which is the default.
            gains: Whether to compute the gains of units.

        Raises:
            InputError: A folder without labels of the unit, or without its vectors if they are to be read.
        """
        from pyarrow import compute

        self.unit, self.network, self.gains = unit, network, gains
        self.limit = min(network.max_units, read or network.max_units)
        self._manifest = manifest = Manifest.read(location(folder))
        self.rows = open_rows(folder, first, last, memory=min(memory, ROWS_MEMORY))
        wanted = {f"{unit}_labels"} | ({f"{unit}_vectors"} if encoded else set())
        missing = wanted - set(self.rows.column_names)
        if missing:
            raise InputError(
                f"{folder}: expected the columns {', '.join(sorted(missing))}; "
                f"preprocess with --unit {unit} and --encoder, and with an oracle"
            )
        self.width = manifest.width if encoded else 0
        self.given_trees = {str(folder): manifest.given_trees}
        made_by = manifest.recipe["made_by"]
        self.encoder = {name: made_by[name] for name in ("encoder", "revision") if name in made_by and encoded}
        counts = [compute.list_value_length(part).to_numpy() for part in self.rows.column(f"{unit}_labels")]
        unit_counts = np.concatenate([np.zeros(0, np.int64), *counts]).astype(np.int64)
        self.lengths: NDArray[np.int64] = np.minimum(unit_counts, self.limit)
        self.blocks = self.rows.blocks
        files, chosen = [shard.sha256 for shard in manifest.shards], range(manifest.documents)[first:last]
        self.digest = hashlib.sha256(repr([files, unit, self.limit, chosen, encoded]).encode()).hexdigest()[:16]
        self._cache: dict[int, UnitExample] = {}
        self._cache_room = memory

    def __len__(self) -> int:
        """Return the number of documents."""
        return len(self.rows)

    def __getitem__(self, index: int, /) -> UnitExample:
        """Return one document's example, truncated to the first units."""
        if index in self._cache:
            return self._cache[index]
        row: dict[str, Any] = self.rows[index]
        document = Document.from_json(row)
        limit, references = self.limit, tuple(row["references"])
        labels = np.array(row[f"{self.unit}_labels"][:limit], dtype=np.int64)
        vectors = torch.zeros(len(labels), 0)
        if self.width:
            vectors = torch.from_numpy(self._manifest.vectors(row, self.unit)[:limit].astype(np.float32))
        inputs = next(unit_inputs(document, self.unit, vectors, self.network, limit))
        gains = np.zeros(len(labels))
        if self.gains:
            gains = unit_gains(unit_texts(document, self.unit)[:limit], references)
        example = UnitExample(document, references, inputs, labels, gains)
        tensors = (example.inputs.vectors, example.inputs.features, *example.inputs.prior.values())
        # A parsed document takes about ten times the memory of its text.
        size = sum(tensor.nbytes for tensor in tensors) + 10 * len(example.document.text)
        if size <= self._cache_room:
            self._cache_room -= size
            self._cache[index] = example
        return example

    def texts(self) -> list[str]:
        """Return a digest of each document's text."""
        return [sha256_of_text(text) for text in self.rows.values("text")]


class UnitCollection(Collection[UnitExample]):
    """The examples of several sources whose vectors come from the same encoder.

    Attributes:
        width: Size of a unit vector.
        encoder: Identity of the Hugging Face encoder of the vectors: `encoder` and `revision`, if any.
        given_trees: Number of documents in the sources' folders that came with their own tree.
    """

    def __init__(self, sources: Sequence[tuple[UnitExamples, float]]) -> None:
        """Concatenate the examples of sources, each with its sampling weight.

        Raises:
            InputError: Sources whose vectors come from different encoders.
        """
        super().__init__(sources)
        self.width = max((examples.width for examples, _ in sources), default=0)
        by_folder = [examples.given_trees for examples, _ in sources]
        self.given_trees = sum({folder: count for one in by_folder for folder, count in one.items()}.values())
        encoders = {tuple(sorted(examples.encoder.items())) for examples, _ in sources}
        if len(encoders) > 1:
            raise InputError(
                f"expected all sources' vectors from one encoder, got those of {len(encoders)}: {encoders}"
            )
        self.encoder = dict(next(iter(encoders), ()))


@dataclass(frozen=True)
class Batch:
    """Examples with padded inputs, labels and gains; labels and gains are `(batch, units)`, padded with 0."""

    examples: Sequence[UnitExample]
    inputs: InputBatch
    labels: Tensor
    gains: Tensor

    def to(self, device: torch.device) -> Batch:
        """Return the batch on a device."""
        return Batch(self.examples, self.inputs.to(device), self.labels.to(device), self.gains.to(device))


def collate(examples: Sequence[UnitExample]) -> Batch:
    """Return the examples as one padded batch."""
    labels = padded([torch.from_numpy(example.labels).float() for example in examples])
    gains = padded([torch.from_numpy(example.gains).float() for example in examples])
    return Batch(examples, batched([example.inputs for example in examples]), labels, gains)
