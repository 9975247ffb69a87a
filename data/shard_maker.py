"""What workers of `discsum preprocess` do: parse, label and encode the documents of a shard, and write it."""

from __future__ import annotations

import platform
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from discsum.batches import batches, failing_alone
from discsum.candidates import Candidates
from discsum.data.engines.base import Step
from discsum.data.manifest import SHARD, SUFFIX
from discsum.data.pairs import Pair
from discsum.data.preprocess_recipe import UNLABELLED, PreprocessRecipe, own_makers
from discsum.data.shards import Record, schema, unwritable, write_shard
from discsum.data.storage import Location
from discsum.data.tables import Failure
from discsum.dependency import edu_heads, in_sentence_heads
from discsum.devices import check_device
from discsum.errors import DiscsumError, InputError
from discsum.oracles import oracle_labels
from discsum.recipes.fields import differences
from discsum.scoring import ParsedDocument

if TYPE_CHECKING:
    from discsum.parsers.parser import Parser
    from discsum.parsers.unit_encoders import UnitEncoder

# Documents parsed together.
BATCH = 8


@dataclass(frozen=True)
class ShardTask:
    """The number of a shard, and its documents, which may be read only when they are iterated over."""

    number: int
    entries: Iterable[Pair | Failure]

    def __str__(self) -> str:
        """Return the shard's file name."""
        return shard_name(self.number)


@dataclass(frozen=True)
class ShardMaker:
    """Writes shards; each worker has its own copy, with its own parser and encoder.

    Attributes:
        recipe: Options of the dataset, paths absolute: a worker may be elsewhere.
        folder: Folder of the dataset, absolute.
        digest: Digest of all that the dataset depends on.
        made_by: What `makers` returned where the run began.
        device: Device of parser and encoder.
    """

    recipe: PreprocessRecipe
    folder: Location
    digest: str
    made_by: Mapping[str, str]
    device: str = "cpu"

    def __call__(self, task: ShardTask, step: Step) -> None:
        """Write a shard; `step` takes the number of documents done since its last call.

        Raises:
            InputError: This worker has no such device, or another version of program or parser than the run.
        """
        if self.misfit:
            raise InputError(self.misfit)
        checked = [entry if isinstance(entry, Failure) else unwritable(entry) or entry for entry in task.entries]
        failures = [entry for entry in checked if isinstance(entry, Failure)]
        pairs = [entry for entry in checked if isinstance(entry, Pair)]
        if failures:
            step(len(failures))
        records: list[Record] = []
        for batch in batches(pairs, BATCH):
            for pair, made in zip(batch, failing_alone(self._records, batch), strict=True):
                if isinstance(made, DiscsumError):
                    failures.append(Failure(pair.id, str(made)))
                else:
                    records.append(made)
            step(len(batch))
        columns = schema(self.recipe.units, self.recipe.encoder != "none", self.recipe.oracle != UNLABELLED)
        write_shard(self.folder / shard_name(task.number), records, failures, columns, self.digest)

    @cached_property
    def misfit(self) -> str:
        """How this worker differs from where the run began, found once; empty if it does not."""
        check_device(self.device)
        here = own_makers(self.recipe.parser)
        there = {name: self.made_by[name] for name in here}
        changed = differences(there, here)
        place = f"worker {platform.node()}"
        return f"{place}: expected the program and parser of the run, found others ({changed})" if changed else ""

    @cached_property
    def parser(self) -> Parser:
        """The parser, loaded once a process."""
        from discsum.parsers.loading import load_parser

        return load_parser(self.recipe.parser, self.device)

    @cached_property
    def encoder(self) -> UnitEncoder | None:
        """The unit encoder, loaded once a process; none if units are not encoded."""
        from discsum.parsers.unit_encoders import UnitEncoder

        return None if self.recipe.encoder == "none" else UnitEncoder.load(self.recipe.encoder, self.parser)

    def _records(self, pairs: Sequence[Pair]) -> list[Record]:
        """Return the record of each pair."""
        from discsum.parsers.parsing import ensure_parsed, ensure_segmented

        if not self.recipe.tree:
            documents = ensure_segmented(pairs, lambda: self.parser)
            return [Record(document, pair.references, {}) for pair, document in zip(pairs, documents, strict=True)]
        encoder, keep = self.encoder, set[str]()
        if encoder is not None and encoder.pools:
            keep = keep.union(*(encoder.needs(unit) for unit in self.recipe.units))
        parsed = ensure_parsed(pairs, lambda: self.parser, keep=keep)
        return [self._record(pair, item) for pair, item in zip(pairs, parsed, strict=True)]

    def _record(self, pair: Pair, item: ParsedDocument) -> Record:
        document, oracle = item.document, self.recipe.oracle
        tree = document.require_tree("--oracle")
        labels: dict[str, NDArray[np.int8]] = {}
        vectors: dict[str, NDArray[np.float16]] = {}
        for unit in self.recipe.units:
            if oracle != UNLABELLED:
                texts = document.sentence_texts if unit == "sentence" else document.edu_texts
                heads = in_sentence_heads(edu_heads(tree), document.edu_to_sentence) if unit == "edu" else None
                groups = Candidates.of(document, unit).groups
                labels[unit] = oracle_labels(oracle, texts, pair.references, self.recipe.oracle_units, heads, groups)
            if self.encoder is not None:
                vectors[unit] = self.encoder.of(item, unit).half().cpu().numpy()
        return Record(document, pair.references, labels, vectors)


def shard_name(number: int) -> str:
    """Return the file name of a shard."""
    return f"{SHARD}{number:05d}{SUFFIX}"
