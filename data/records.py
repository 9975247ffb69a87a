"""Records of the shards of an unfinished folder, from which the manifest is written later."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass

from discsum.data.failures import Failure
from discsum.data.shard_names import record_name
from discsum.data.storage import Location, write_bytes
from discsum.files import to_line
from discsum.recipes.fields import Checked, Natural


@dataclass(frozen=True)
class Origin:
    """What a shard was made from, as digests.

    Attributes:
        recipe: Digest of everything that the folder's content depends on.
        entries: Digest of the shard's own documents; empty if unknown.
    """

    recipe: str
    entries: str = ""


@dataclass(frozen=True)
class ShardRecord(Checked):
    """The record that is written beside a shard once the shard is complete.

    Attributes:
        sha256: Checksum of the shard's content, computed before it was written.
        size: Bytes of the shard.
        documents: Number of its documents.
        failed: Number of documents that failed.
        width: Size of a unit vector; 0 without vectors.
        recipe: As in `Origin`.
        entries: As in `Origin`.
        failures: Lines of `failures.jsonl` for the documents that failed.
        given_trees: Number of its documents that came with their own tree.
    """

    sha256: str
    size: Natural
    documents: Natural
    failed: Natural
    width: Natural
    recipe: str
    entries: str
    failures: str = ""
    given_trees: Natural = 0

    def problems(self) -> list[str]:
        """Return a problem unless each failure has a line."""
        lines = self.failures.count("\n")
        return [] if lines == self.failed else [f"failures: expected {self.failed} lines, got {lines}"]

    def write(self, shard: Location) -> None:
        """Write the record of a shard."""
        write_bytes(record_file(shard), (json.dumps(asdict(self)) + "\n").encode())


def record_file(shard: Location) -> Location:
    """Return the file that a worker writes beside a shard, its record."""
    return shard.with_name(record_name(shard.name))


def withdraw(shard: Location) -> None:
    """Overrule all records of a shard that is about to be made from other documents.

    Otherwise a run that is killed between writing the shard and its record would leave a new shard with an old record.
    """
    # Not removed: records may be combined. Not empty: ranges of empty files in S3 cannot be read.
    write_bytes(record_file(shard), b"\n")


def commit(
    path: Location,
    content: bytes,
    documents: int,
    failures: Sequence[Failure],
    origin: Origin,
    *,
    width: int = 0,
    given_trees: int = 0,
) -> ShardRecord:
    """Write a shard, and then its record, so that a shard with a record is complete; return the record.

    Args:
        path: Path of the shard, which is written atomically.
        content: Content of the shard.
        documents: Number of its documents.
        failures: The documents that failed.
        origin: What it was made from.
        width: Size of a unit vector; 0 without vectors.
        given_trees: Number of documents that came with their own tree.
    """
    write_bytes(path, content)
    checksum, lines = hashlib.sha256(content).hexdigest(), "".join(to_line(asdict(failure)) for failure in failures)
    counts = documents, len(failures), width
    record = ShardRecord(checksum, len(content), *counts, origin.recipe, origin.entries, lines, given_trees)
    record.write(path)
    return record
