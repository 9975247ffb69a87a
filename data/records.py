"""Shards of an unfinished folder, and the records beside them: what the manifest will say of each."""

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
from discsum.data.shard_names import number_of, record_name
from discsum.data.storage import Location, read_each, sizes_in, write_bytes
from discsum.errors import InputError
from discsum.files import to_line
from discsum.json_objects import checked_fields, parse_object
from discsum.recipes.fields import Checked, Natural

# Records that are read together, which object storage does faster than one by one.
TOGETHER = 256


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

    def write(self, shard: Location) -> None:
        """Write the record of a shard."""
        write_bytes(record_file(shard), (json.dumps(asdict(self)) + "\n").encode())


def record_file(shard: Location) -> Location:
    """Return the file that holds a shard's record until the manifest is written."""
    return shard.with_name(record_name(shard.name))


def commit(
    path: Location, content: bytes, documents: int, failures: Sequence[Failure], recipe: str, *, width: int = 0
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
    write_bytes(path, content)
    checksum, lines = hashlib.sha256(content).hexdigest(), "".join(to_line(asdict(failure)) for failure in failures)
    ShardRecord(checksum, len(content), documents, len(failures), width, recipe, lines).write(path)


@dataclass(frozen=True)
class Listing:
    """The shards of a folder and their sizes in bytes, as they were listed once, and what their records say."""

    folder: Location
    sizes: Mapping[str, int]
    # Contents of records that were read with others; each is asked for once.
    _read: dict[str, bytes | None] = field(default_factory=dict, init=False, repr=False)

    @classmethod
    def of(cls, folder: Location, part: Part = WHOLE) -> Listing:
        """List the shards of a part in a folder; other runs may write to it."""
        found = sizes_in(folder)
        return cls(folder, {name: size for name, size in found.items() if _is_in(part, name)})

    @cached_property
    def names(self) -> list[str]:
        """The file names of the shards, sorted."""
        return sorted(self.sizes)

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
        file, content = record_file(path), self._content(shard)
        if content is None:
            raise InputError(f"{path}: expected its record in {file.name}, found no such file")
        record = checked_fields(ShardRecord, parse_object(content, str(file), InputError), file, InputError)
        if record.recipe != recipe:
            raise InputError(f"{path}: expected a shard of this recipe, found another's")
        if record.size != self.sizes[shard]:
            raise InputError(f"{path}: expected a shard of {record.size:,} bytes, got {self.sizes[shard]:,}")
        if verify and (fault := fault_of(path, record.sha256)):
            raise InputError(fault)
        return record

    def _content(self, shard: str) -> bytes | None:
        """Return the content of a shard's record, read with those of the shards after it; none without one."""
        if shard not in self._read:
            first = bisect_left(self.names, shard)
            names = self.names[first : first + TOGETHER]
            contents = read_each([record_file(self.folder / name) for name in names])
            self._read.update(zip(names, contents, strict=True))
        return self._read.pop(shard)


def _is_in(part: Part, name: str) -> bool:
    """Return whether a file is a shard of a part."""
    number = number_of(name)
    return number is not None and part.has(number)
