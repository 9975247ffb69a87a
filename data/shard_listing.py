"""The shards of an unfinished folder, listed once, and their records."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

from discsum.data.combined_records import read_combined
from discsum.data.manifest import fault_of
from discsum.data.parts import WHOLE, Part
from discsum.data.records import Origin, ShardRecord, record_file
from discsum.data.shard_names import combined_number, record_name, shard_number
from discsum.data.storage import Location, read_each, sizes_in
from discsum.errors import InputError
from discsum.json_objects import checked_fields, parse_object

# Number of records read together, which is faster on object storage than one by one.
TOGETHER = 256


@dataclass(frozen=True)
class Listing:
    """The shards of a folder and their sizes in bytes, listed once, with access to their records.

    Attributes:
        sizes: Bytes of each shard, by file name.
        records: Names of the shards' own records.
        combined: Names of the files that hold records of many shards.
    """

    folder: Location
    sizes: Mapping[str, int]
    records: frozenset[str] = frozenset()
    combined: tuple[str, ...] = ()
    # Contents of records that were read ahead; each is requested once.
    _read: dict[str, bytes | None] = field(default_factory=dict, init=False, repr=False)

    @classmethod
    def of(cls, folder: Location, part: Part = WHOLE) -> Listing:
        """List the shards of a part in a folder that other runs may be writing to."""
        found = sizes_in(folder)
        sizes = {name: size for name, size in found.items() if _is_in(part, name)}
        combined = tuple(name for name in found if combined_number(name) >= 0)
        return cls(folder, sizes, frozenset(found.keys() & map(record_name, sizes)), combined)

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
        if content is None or not content.strip():
            raise InputError(f"{path}: expected its record in {file.name} or .records-*.jsonl, found none")
        label = f"{path}: its record"
        record = checked_fields(ShardRecord, parse_object(content, label, InputError), label, InputError)
        if record.recipe != origin.recipe:
            raise InputError(f"{path}: expected a shard of this recipe, found one of another recipe")
        if origin.entries and record.entries != origin.entries:
            # A table that could not be read, perhaps only for a moment, moves all later documents to other shards.
            raise InputError(
                f"{path}: expected a shard of the documents that this run reads, found one of other documents, as "
                "after a run in which an input could not be read, or could still be read"
            )
        if record.size != self.sizes[shard]:
            raise InputError(f"{path}: expected a shard of {record.size:,} bytes, got {self.sizes[shard]:,}")
        if verify and (fault := fault_of(path, record.sha256)):
            raise InputError(fault)
        return record

    def _content(self, shard: str) -> bytes | None:
        """Return the content of a shard's record, or None."""
        own = self._own_content(shard) if record_name(shard) in self.records else None
        return self._combined.pop(shard, None) if own is None else own

    def _own_content(self, shard: str) -> bytes | None:
        """Return the content of the record beside a shard; also read those of the next shards."""
        if shard not in self._read:
            first = bisect_left(self._with_record, _number(shard), key=_number)
            names = self._with_record[first : first + TOGETHER]
            contents = read_each([record_file(self.folder / name) for name in names])
            self._read.update(zip(names, contents, strict=True))
        return self._read.pop(shard)

    @cached_property
    def _with_record(self) -> list[str]:
        """The shards that have their own record, in order."""
        return [name for name in self.names if record_name(name) in self.records]

    @cached_property
    def _combined(self) -> dict[str, bytes]:
        """Contents of the combined records by the file names of their shards; each is requested once."""
        return read_combined(self.folder, self.combined, self.sizes)


def _number(name: str) -> int:
    # Names of more than 100,000 shards do not sort like their numbers.
    return shard_number(name) or 0


def _is_in(part: Part, name: str) -> bool:
    """Return whether a file is a shard of a part."""
    number = shard_number(name)
    return number is not None and part.has(number)
