"""Read the documents of a dataset folder from its shards on demand."""

from __future__ import annotations

import hashlib
from bisect import bisect_right
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discsum.batches import map_ahead
from discsum.data.manifest import Manifest, remedy_of, repair_of
from discsum.data.storage import READERS, Location, location, read_bytes
from discsum.errors import InputError
from discsum.extras import needs

with needs("pyarrow"):
    import pyarrow as pa
    from pyarrow import parquet as pq

# Bytes of decoded shards that one folder keeps in memory.
MEMORY = 512 << 20
# Rows that are converted to Python objects at once.
BATCH = 64


@dataclass(frozen=True)
class ShardFile:
    """A shard on a disk or in a store.

    Attributes:
        sha256: Its checksum, which is compared when the whole shard is read.
    """

    path: Location
    documents: int
    sha256: str

    def table(self) -> pa.Table:
        """Return the whole shard, read at once.

        Raises:
            InputError: The file is missing, altered, or not a shard.
        """
        with shard_errors(self.path):
            content = read_bytes(self.path)
        found = hashlib.sha256(content).hexdigest()
        if found != self.sha256:
            raise InputError(f"{self.path}: expected a shard with sha256 {self.sha256}, got {found}; {repair_of({})}")
        with shard_errors(self.path):
            table = pq.ParquetFile(pa.BufferReader(content)).read(use_threads=False)
        if len(table) != self.documents:
            raise InputError(
                f"{self.path}: expected {self.documents} documents, as the manifest says, got {len(table)}; "
                f"{remedy_of({})}"
            )
        return table

    @contextmanager
    def opened(self) -> Iterator[pq.ParquetFile]:
        """Open the shard, to read only some of its columns."""
        with shard_errors(self.path), self.path.open("rb") as file:
            # With pre-buffering, a thread of Arrow reads the file and frees a Python object some time later. If Python
            # is shutting down by then, the process aborts.
            yield pq.ParquetFile(file, pre_buffer=False)


class DatasetRows:
    """Documents in order, with the columns of `discsum.data.load`.

    At most `memory` bytes of decoded shards stay in memory, but at least two shards.
    """

    def __init__(
        self, files: Sequence[ShardFile], first: int = 0, last: int | None = None, memory: int = MEMORY
    ) -> None:
        """Take the rows `first` to `last`, exclusive, of files."""
        self._files, self._memory = files, memory
        self._begins = [0, *accumulate(file.documents for file in files)]
        self._chosen = range(self._begins[-1])[first:last]
        # Cached shards, the least recently used first, and their size in bytes.
        self._tables: OrderedDict[int, pa.Table] = OrderedDict()
        self._size = 0
        # Uncompressed bytes of files, from their footers.
        self._bytes: dict[int, int] = {}

    @property
    def column_names(self) -> list[str]:
        """The names of the columns."""
        return list(self._table(next((number for number, *_ in self._parts()), 0)).column_names)

    def __len__(self) -> int:
        """Return the number of documents."""
        return len(self._chosen)

    def __getitem__(self, index: int) -> dict[str, Any]:
        """Return one document."""
        row = self._chosen[index]
        number = bisect_right(self._begins, row) - 1
        (found,) = self._table(number).slice(row - self._begins[number], 1).to_pylist()
        return dict(found)

    def __iter__(self) -> Iterator[dict[str, Any]]:
        """Yield the documents."""
        for number, first, last in self._parts():
            table = self._table(number)
            for begin in range(first, last, BATCH):
                yield from table.slice(begin, min(BATCH, last - begin)).to_pylist()

    @cached_property
    def blocks(self) -> NDArray[np.int64]:
        """`(documents,)` block number of each document.

        A block is a run of consecutive files that fill half of `memory` when decoded. A caller that draws documents at
        random, but from one block after another, decodes each file once. There is one block if all documents fit into
        `memory`.
        """
        found, parts = np.zeros(len(self), dtype=np.int64), list(self._parts())
        unread = [number for number, *_ in parts if number not in self._bytes]
        self._bytes |= zip(unread, map_ahead(self._uncompressed, unread, READERS), strict=True)
        # Decoded files are larger than that, all by about the same factor, so the first file gives an estimate.
        scale = self._table(parts[0][0]).nbytes / max(1, self._bytes[parts[0][0]]) if parts else 0.0
        sizes = [scale * self._bytes[number] for number, *_ in parts]
        if sum(sizes) <= self._memory:
            return found
        block = place = 0
        held = 0.0
        for size, (_, first, last) in zip(sizes, parts, strict=True):
            if held and held + size > self._memory / 2:
                block, held = block + 1, 0.0
            found[place : place + last - first] = block
            place, held = place + last - first, held + size
        return found

    def column(self, name: str) -> Iterator[pa.Array]:
        """Yield the values of one column, an array per file; other columns are not read."""

        def values(part: tuple[int, int, int]) -> pa.Array:
            number, first, last = part
            with self._files[number].opened() as file:
                self._bytes[number] = _uncompressed(file)
                return file.read([name], use_threads=False)[name].combine_chunks().slice(first, last - first)

        return map_ahead(values, self._parts(), READERS)

    def values(self, name: str) -> Iterator[Any]:
        """Yield the values of one column as Python objects."""
        for part in self.column(name):
            yield from part.to_pylist()

    def _uncompressed(self, number: int) -> int:
        with self._files[number].opened() as file:
            return _uncompressed(file)

    def _parts(self) -> Iterator[tuple[int, int, int]]:
        """Yield the number of each file with chosen rows, and the first and last (exclusive) of these in the file."""
        for number, (begin, end) in enumerate(zip(self._begins, self._begins[1:], strict=False)):
            first, last = max(begin, self._chosen.start), min(end, self._chosen.stop)
            if first < last:
                yield number, first - begin, last - begin

    def _table(self, number: int) -> pa.Table:
        if number in self._tables:
            self._tables.move_to_end(number)
            return self._tables[number]
        table = self._files[number].table()
        self._tables[number], self._size = table, self._size + table.nbytes
        # Keeps at least two, because a batch may have documents of two blocks.
        while self._size > self._memory and len(self._tables) > 2:
            _, oldest = self._tables.popitem(last=False)
            self._size -= oldest.nbytes
        return table


def open_rows(folder: str | Location, first: int = 0, last: int | None = None, *, memory: int = MEMORY) -> DatasetRows:
    """Return the documents of a dataset folder on a disk or in a store, read from its shards.

    Args:
        folder: Written by `discsum preprocess`.
        first: First document, from 0.
        last: End of the documents, exclusive.
        memory: Bytes of decoded shards that stay in memory.

    Raises:
        InputError: Not a finished dataset folder. A missing or altered file raises only when it is read, because a
            large folder should not be read whole before its first document.
    """
    folder = location(folder)
    shards = Manifest.read(folder).nonempty_shards(folder)
    files = [ShardFile(folder / shard.file, shard.documents, shard.sha256) for shard in shards]
    return DatasetRows(files, first, last, memory)


@contextmanager
def shard_errors(path: Location) -> Iterator[None]:
    """Turn errors of pyarrow and the operating system into an `InputError` that names the file."""
    try:
        yield
    except (pa.ArrowException, OSError) as error:
        raise InputError(f"{path}: expected a shard, got {error}; {repair_of({})}") from error


def _uncompressed(file: pq.ParquetFile) -> int:
    """Return the number of bytes of a file before compression."""
    metadata = file.metadata
    return sum(metadata.row_group(number).total_byte_size for number in range(metadata.num_row_groups))
