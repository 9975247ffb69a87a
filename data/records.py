"""Shards of an unfinished folder and their records, from which the manifest is written later."""

from __future__ import annotations

import hashlib
import json
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property

from discsum.data.failures import Failure
from discsum.data.manifest import fault_of
from discsum.data.parts import WHOLE, Part
from discsum.data.shard_names import record_name, shard_number
from discsum.data.storage import Location, read_each, sizes_in, write_bytes
from discsum.errors import InputError
from discsum.files import to_line
from discsum.json_objects import checked_fields, parse_object
from discsum.recipes.fields import Checked, Natural

# Number of records read together, which is faster on object storage than one by one.
TOGETHER = 256


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
    """Return the file that holds a shard's record until the manifest is written."""
    return shard.with_name(record_name(shard.name))


def commit(
    path: Location,
    content: bytes,
    documents: int,
    failures: Sequence[Failure],
    origin: Origin,
    *,
    width: int = 0,
    given_trees: int = 0,
) -> None:
    """Write a shard, and then its record, so that a shard with a record is complete.

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
    ShardRecord(checksum, len(content), *counts, origin.recipe, origin.entries, lines, given_trees).write(path)


@dataclass(frozen=True)
class Listing:
    """The shards of a folder and their sizes in bytes, listed once, with access to their records."""

    folder: Location
    sizes: Mapping[str, int]
    # Contents of records that were read ahead; each is requested once.
    _read: dict[str, bytes | None] = field(default_factory=dict, init=False, repr=False)

    @classmethod
    def of(cls, folder: Location, part: Part = WHOLE) -> Listing:
        """List the shards of a part in a folder that other runs may be writing to."""
        found = sizes_in(folder)
        return cls(folder, {name: size for name, size in found.items() if _is_in(part, name)})

    @cached_property
    def names(self) -> list[str]:
        """The file names of the shards in order of their numbers, in which they are requested."""
        return sorted(self.sizes, key=_number)

    def beyond(self, count: int) -> list[str]:
        """Return the names of the shards from number `count` on."""
        return self.names[bisect_left(self.names, count, key=_number) :]

    def __contains__(self, shard: str) -> bool:
        """Return whether there is a shard of that name, whatever its state."""
        return shard in self.sizes

    def record(self, shard: str, origin: Origin, *, verify: bool = False) -> ShardRecord:
        """Return the record of an existing shard, after comparing the shard with it.

        Args:
            shard: File name of the shard.
            origin: What it should be made from.
            verify: Whether to compare the checksum too, which reads the whole shard.

        Raises:
            InputError: The shard has no record or does not match it; the message says what is wrong.
        """
        path = self.folder / shard
        file, content = record_file(path), self._content(shard)
        if content is None:
            raise InputError(f"{path}: expected its record in {file.name}, found no such file")
        record = checked_fields(ShardRecord, parse_object(content, str(file), InputError), file, InputError)
        if record.recipe != origin.recipe:
            raise InputError(f"{path}: expected a shard of this recipe, found one of another recipe")
        if origin.entries and record.entries != origin.entries:
            # A table that could not be read, perhaps only for a moment, moves all later documents to other shards.
            raise InputError(
                f"{path}: expected a shard of the documents that this run reads, found one of others, made when an "
                "input could not be read, or could still be read"
            )
        if record.size != self.sizes[shard]:
            raise InputError(f"{path}: expected a shard of {record.size:,} bytes, got {self.sizes[shard]:,}")
        if verify and (fault := fault_of(path, record.sha256)):
            raise InputError(fault)
        return record

    def _content(self, shard: str) -> bytes | None:
        """Return the content of a shard's record, or None; also read the records of the next shards."""
        if shard not in self._read:
            first = bisect_left(self.names, _number(shard), key=_number)
            names = self.names[first : first + TOGETHER]
            contents = read_each([record_file(self.folder / name) for name in names])
            self._read.update(zip(names, contents, strict=True))
        return self._read.pop(shard)


def _number(name: str) -> int:
    # Names of more than 100,000 shards do not sort like their numbers.
    return shard_number(name) or 0


def _is_in(part: Part, name: str) -> bool:
    """Return whether a file is a shard of a part."""
    number = shard_number(name)
    return number is not None and part.has(number)
