"""The documents of each shard of a dataset, in order: what one task is made of."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice

from discsum.batches import batches
from discsum.data.pairs import Pair, Pairs, PairSlices
from discsum.data.shard_sizes import BYTES, DOCUMENTS
from discsum.data.slices import DIVIDED, Slice, byte_slices, joined, row_slices
from discsum.data.storage import Stored
from discsum.data.tables import Failure, kind_of
from discsum.errors import InputError


def shards_of(pairs: Iterable[Pair | Failure], size: int, unit: str = DOCUMENTS) -> Iterator[Iterable[Pair | Failure]]:
    """Yield the documents of each shard.

    Where tables can be divided, they are slices of tables, which whoever iterates over them reads; otherwise the
    documents themselves.

    Args:
        pairs: The documents.
        size: Number of documents of a shard, or bytes of the tables.
        unit: `documents` or `bytes`.

    Raises:
        InputError: Tables that cannot be divided by bytes; or as of iterating over the pairs.
    """
    files = pairs.source.files() if isinstance(pairs, Pairs) and not pairs.source.is_dataset else []
    kinds = {kind_of(file.path) for file in files}
    if isinstance(pairs, Pairs) and kinds and kinds <= set(DIVIDED):
        # A table without the columns fails before anything is written.
        next(iter(pairs), None)
        for slices in _slices(pairs, files, size, unit):
            yield PairSlices(pairs.source, slices)
    elif unit == DOCUMENTS:
        yield from batches(pairs, size)
    else:
        raise InputError(
            f"shard: expected tables that end in {' or '.join(DIVIDED)} for shards of so many bytes, got "
            f"{', '.join(sorted(kinds)) or 'others'}; give a number of documents"
        )


def _slices(pairs: Pairs, files: Sequence[Stored], size: int, unit: str) -> Iterator[tuple[Slice, ...]]:
    """Yield where the rows of each shard are."""
    if unit == BYTES:
        for file in files:
            yield from ((part,) for part in byte_slices(file, size))
        return
    rows = chain.from_iterable(row_slices(file, pairs.source.max_document_bytes) for file in files)
    for group in batches(islice(rows, pairs.first, pairs.last), size):
        yield joined(group)
