"""The work of `discsum preprocess` in workers: parse, label and encode the documents of a shard, and write it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from discsum.data.failures import Failure
from discsum.data.pairs import Pair
from discsum.data.preprocess_recipe import NOT_ENCODED, UNLABELLED, PreprocessRecipe, makers_without_encoder
from discsum.data.records import Origin, ShardRecord
from discsum.data.shard_maker import ShardMaker
from discsum.data.shard_names import SHARD
from discsum.data.shards import Record, schema, unwritable, write_shard
from discsum.data.storage import Location
from discsum.errors import WeightsError
from discsum.oracles import document_labels
from discsum.scoring import ParsedDocument

if TYPE_CHECKING:
    from discsum.parsers.parser import Parser
    from discsum.parsers.unit_encoders import UnitEncoder


# Format string for the file name of a shard, given its number.
SHARD_FILE = f"{SHARD}{{:05d}}.parquet"


@dataclass(frozen=True)
class DatasetMaker(ShardMaker[Pair, Record]):
    """Writes shards of a dataset.

    Attributes:
        recipe: Options of the dataset, paths absolute.
    """

    recipe: PreprocessRecipe

    @property
    def batch(self) -> int:
        """Documents that are processed together."""
        return self.recipe.batch_size

    def makers(self) -> dict[str, str]:
        """Return the version of discsum, the parser's fingerprint, and the identity of a foreign oracle."""
        return makers_without_encoder(self.recipe)

    def load(self) -> None:
        """Load the parser and the unit encoder."""
        _ = self.parser, self.encoder

    def name_of(self, entry: Pair) -> str:
        """Return the file and line of a pair, or the document's id if they are unknown."""
        return entry.source or entry.id

    def unusable(self, entry: Pair) -> Failure | None:
        """Return a failure for a pair that Parquet cannot hold."""
        return unwritable(entry)

    def make(self, entries: Sequence[Pair]) -> list[Record]:
        """Return the record of each pair."""
        from discsum.parsers.parsing import ensure_parsed, ensure_segmented

        if not self.recipe.tree:
            documents = ensure_segmented(entries, lambda: self.parser)
            return [
                Record(document, pair.references, {}, given_tree=pair.has_tree)
                for pair, document in zip(entries, documents, strict=True)
            ]
        encoder, keep = self.encoder, set[str]()
        if encoder is not None and encoder.pools:
            keep = keep.union(*(encoder.needs(unit) for unit in self.recipe.units))
        parsed = ensure_parsed(entries, lambda: self.parser, keep=keep)
        return [self._record(pair, item) for pair, item in zip(entries, parsed, strict=True)]

    def write(self, path: Location, made: Sequence[Record], failures: Sequence[Failure], origin: Origin) -> ShardRecord:
        """Write a Parquet file and its record, and return the record."""
        columns = schema(self.recipe.units, self.recipe.encoder != NOT_ENCODED, self.recipe.oracle != UNLABELLED)
        return write_shard(path, made, failures, columns, origin)

    @cached_property
    def parser(self) -> Parser:
        """The parser, loaded once per process."""
        from discsum.parsers.loading import load_parser

        return load_parser(self.recipe.parser, self.device, self.recipe.precision)

    @cached_property
    def encoder(self) -> UnitEncoder | None:
        """The unit encoder, loaded once per process; None if units are not encoded."""
        from discsum.parsers.unit_encoders import UnitEncoder

        name, wanted = self.recipe.encoder, self.made_by.get("encoder", "")
        if name == NOT_ENCODED:
            return None
        encoder = UnitEncoder.load(name, self.parser, revision=self.made_by.get("revision", ""))
        if encoder.fingerprint != wanted:
            raise WeightsError(
                f"{name}: expected the encoder that the run began with ({wanted[:8]}), found another "
                f"({encoder.fingerprint[:8]}); use the same encoder on all machines"
            )
        return encoder

    def _record(self, pair: Pair, item: ParsedDocument) -> Record:
        document, oracle = item.document, self.recipe.oracle
        document.require_tree("--oracle")
        labels: dict[str, NDArray[np.int8]] = {}
        vectors: dict[str, NDArray[np.float16]] = {}
        for unit in self.recipe.units:
            if oracle != UNLABELLED:
                labels[unit] = document_labels(oracle, document, unit, pair.references, self.recipe.oracle_units)
            if self.encoder is not None:
                vectors[unit] = self.encoder.of(item, unit).half().cpu().numpy()
        return Record(document, pair.references, labels, vectors, pair.has_tree)
