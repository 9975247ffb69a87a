"""Files that hold the records of many shards, so that a resumed run reads few files."""

from __future__ import annotations

import json
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import asdict
from threading import Lock
from uuid import uuid4

from discsum.batches import batches
from discsum.data.records import ShardRecord, record_file
from discsum.data.shard_names import combined_name, combined_number, record_name
from discsum.data.storage import Location, read_each, remove, write_bytes

# Number of records in a file, which is also the number of files that S3 removes with one request.
TOGETHER = 1000
# Fewer records than this stay as they are at the end of a part: a file for each of many small parts saves nothing.
FEW = 32
# Number of these files that are in memory at the same time.
READ = 32
# Key of a shard's file name in a line. It comes first, so that a line is parsed only when its shard is looked for.
_FILE = "file"
_BEFORE, _AFTER = f'{{"{_FILE}": "'.encode(), b'", '


class RecordCombiner:
    """Replaces the records of finished shards by files that hold `TOGETHER` of them.

    Only the process that runs a folder or a part has one. A record beside its shard takes precedence over a combined
    one, so that workers can make a shard again without it.
    """

    def __init__(self, folder: Location, existing: Sequence[str]) -> None:
        """Set the folder, and the names of the files that earlier runs combined."""
        self._folder, self._combined = folder, list(existing)
        # Later files take precedence over earlier ones.
        self._next = 1 + max(map(combined_number, existing), default=-1)
        self._waiting: dict[str, ShardRecord] = {}
        # An engine may draw tasks, whose records are found, in another thread.
        self._lock = Lock()

    @property
    def files(self) -> list[str]:
        """The names of all files with records of the shards: combined ones, and those beside shards."""
        return [*self._combined, *map(record_name, self._waiting)]

    def add(self, shard: str, record: ShardRecord) -> None:
        """Take the record of a shard, which lies beside it; write a file if there are enough of them."""
        with self._lock:
            self._waiting[shard] = record
            if len(self._waiting) >= TOGETHER:
                self._write()

    def close(self) -> None:
        """Write the records that were taken since the last file, unless they are few."""
        if len(self._waiting) >= FEW:
            self._write()

    def _write(self) -> None:
        """Write a file of the records that were taken, and remove those beside their shards."""
        self._combined.append(write_combined(self._folder, self._next, self._waiting))
        # If the run is killed before they are removed, they say the same.
        remove(record_file(self._folder / shard) for shard in self._waiting)
        self._waiting = {}
        self._next += 1


def write_combined(folder: Location, number: int, records: Mapping[str, ShardRecord]) -> str:
    """Write the records of shards, by file name, as the file of a number, and return the file's name."""
    lines = (json.dumps({_FILE: shard} | asdict(record)) + "\n" for shard, record in records.items())
    # Runs of several parts may write files of the same number.
    name = combined_name(number, uuid4().hex[:8])
    write_bytes(folder / name, "".join(lines).encode())
    return name


def read_combined(folder: Location, names: Iterable[str], shards: Container[str]) -> dict[str, bytes]:
    """Return the JSON of the combined records of some shards, by file name; lines that name no shard are left out."""
    found = {}
    for some in batches(sorted(names, key=combined_number), READ):
        for content in read_each([folder / name for name in some]):
            for line in (content or b"").splitlines():
                place = line.find(_AFTER)
                shard = line[len(_BEFORE) : place].decode("ascii", "replace")
                if place > 0 and line.startswith(_BEFORE) and shard in shards:
                    found[shard] = b"{" + line[place + len(_AFTER) :]
    return found
