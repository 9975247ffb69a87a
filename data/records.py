"""Shards of an unfinished folder, and the records beside them: what the manifest will say of each."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping, Sequence, Set
from dataclasses import asdict, dataclass
from pathlib import Path

from discsum.data.manifest import RECORD, SHARDS, fault_of
from discsum.data.tables import Failure
from discsum.errors import InputError
from discsum.files import replacing, to_line
from discsum.json_objects import read_fields
from discsum.recipes.fields import Checked, Natural


@dataclass(frozen=True)
class ShardRecord(Checked):
    """What is written beside a shard when it is complete.

    Attributes:
        sha256: Checksum of the shard, from before it was written.
        size: Bytes of the shard.
        documents: Number of its documents.
        failed: Number of those that failed.
        width: Size of a unit vector; 0 without any.
        recipe: Digest of all that the folder's content depends on.
        failures: Lines of `failures.jsonl` for those that failed.
    """

    sha256: str
    size: Natural
    documents: Natural
    failed: Natural
    width: Natural
    recipe: str
    failures: str = ""

    def problems(self) -> list[str]:
        """Return whether each failure has its line."""
        lines = self.failures.count("\n")
        return [] if lines == self.failed else [f"failures: expected {self.failed} lines, got {lines}"]

    def write(self, shard: Path) -> None:
        """Write the record of a shard."""
        with replacing(record_file(shard)) as partial:
            partial.write_text(json.dumps(asdict(self)) + "\n", encoding="utf-8")

    @classmethod
    def read(cls, shard: Path) -> ShardRecord:
        """Return the record of a shard.

        Raises:
            InputError: There is none, or it is damaged.
        """
        return read_fields(cls, record_file(shard), InputError)


def record_file(shard: Path) -> Path:
    """Return the file that holds a shard's record until the manifest is written."""
    return shard.with_name(f".{shard.name.partition('.')[0]}{RECORD}")


def commit(
    path: Path, content: bytes, documents: int, failures: Sequence[Failure], recipe: str, *, width: int = 0
) -> None:
    """Write a shard, and then its record, so that a shard with a record is complete.

    Args:
        path: The shard, which appears as a whole.
        content: All of it.
        documents: Number of its documents.
        failures: Those that failed.
        recipe: Digest of all that the folder's content depends on.
        width: Size of a unit vector; 0 without any.
    """
    with replacing(path) as partial:
        partial.write_bytes(content)
    checksum, lines = hashlib.sha256(content).hexdigest(), "".join(to_line(asdict(failure)) for failure in failures)
    ShardRecord(checksum, len(content), documents, len(failures), width, recipe, lines).write(path)


@dataclass(frozen=True)
class Listing:
    """The shards of a folder and their sizes in bytes, and the records, as they were listed once."""

    folder: Path
    sizes: Mapping[str, int]
    records: Set[str]

    @classmethod
    def of(cls, folder: Path) -> Listing:
        """List a folder; other runs may write to it."""
        sizes, records = {}, set()
        with os.scandir(folder) as entries:
            for entry in entries:
                if entry.name.startswith(SHARDS):
                    sizes[entry.name] = entry.stat().st_size
                elif entry.name.endswith(RECORD):
                    records.add(entry.name)
        return cls(folder, sizes, records)

    def __contains__(self, shard: str) -> bool:
        """Return whether there is a shard of that name, whatever its state."""
        return shard in self.sizes

    def record(self, shard: str, recipe: str, *, verify: bool = False) -> ShardRecord:
        """Return the record of a shard that is there, if it is what its record says.

        Args:
            shard: Its file name.
            recipe: Digest of all that the folder's content depends on.
            verify: Whether to compare its checksum, for which it is read.

        Raises:
            InputError: What is wrong with it.
        """
        path = self.folder / shard
        if record_file(path).name not in self.records:
            raise InputError(f"{path}: expected its record in {record_file(path).name}, found no such file")
        record = ShardRecord.read(path)
        if record.recipe != recipe:
            raise InputError(f"{path}: expected a shard of this recipe, found another's")
        if record.size != self.sizes[shard]:
            raise InputError(f"{path}: expected a shard of {record.size:,} bytes, got {self.sizes[shard]:,}")
        if verify and (fault := fault_of(path, record.sha256)):
            raise InputError(fault)
        return record
