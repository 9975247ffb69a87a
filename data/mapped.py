"""A dataset folder's rows in a file that can be mapped into memory, as Parquet cannot."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import pyarrow as pa
from filelock import FileLock
from pyarrow import parquet as pq

from discsum.data.manifest import REMEDY
from discsum.errors import InputError
from discsum.files import replacing, sha256

# Rows copied at a time, and digits of a checksum in a file's name.
ROWS, DIGITS = 64, 16


def mappable(shards: Mapping[Path, str], folders: Sequence[Path], *, check: bool = True) -> Path:
    """Return a copy of the shards' rows that can be mapped into memory, as no Parquet can; it is made once.

    Its name has the shards' checksums and its own: it is found again wherever the folder is moved or copied to, and one
    that is damaged is made anew.

    Args:
        shards: The shards' files, in order, with their checksums.
        folders: Where the copy may be kept, the first that can be written to.
        check: Whether a copy that is found is checked against its checksum.

    Raises:
        InputError: No folder has room for it.
    """
    name = hashlib.sha256("".join(shards.values()).encode()).hexdigest()[:DIGITS]
    problems = []
    for folder in folders:
        found = _whole_copy(folder, name, check)
        if found:
            return found
    for folder in folders:
        try:
            folder.mkdir(parents=True, exist_ok=True)
            # Of several processes that begin at once, one makes it.
            with FileLock(folder / ".lock"):
                return _whole_copy(folder, name, check) or _copy(list(shards), folder, name)
        except OSError as error:
            problems.append(f"{folder} ({error.strerror or error})")
    raise InputError(
        "expected room for a copy of the dataset that can be mapped into memory, got none in "
        f"{' or '.join(problems)}; make room, or set HF_DATASETS_CACHE to a folder that has some"
    )


def _whole_copy(folder: Path, name: str, check: bool) -> Path | None:
    for path in folder.glob(f"{name}-*.arrow"):
        if not check or path.stem == f"{name}-{sha256(path)[:DIGITS]}":
            return path
    return None


def _copy(files: Sequence[Path], folder: Path, name: str) -> Path:
    # Of killed processes, or damaged: the folder is held by this one.
    for old in (*folder.glob(".*.partial"), *folder.glob(f"{name}-*.arrow")):
        old.unlink()
    columns = pq.read_schema(files[0]).remove_metadata()
    path = folder / f"{name}.arrow"
    with replacing(path) as partial, partial.open("wb") as file, pa.ipc.new_stream(file, columns) as stream:
        for batch in _batches(files):
            stream.write_batch(batch.replace_schema_metadata(None))
    return path.rename(folder / f"{name}-{sha256(path)[:DIGITS]}.arrow")


def _batches(files: Sequence[Path]) -> Iterator[pa.RecordBatch]:
    for path in files:
        try:
            yield from pq.ParquetFile(path).iter_batches(batch_size=ROWS)
        except (pa.ArrowException, OSError) as error:
            raise InputError(f"{path}: expected a shard, got {error}; {REMEDY}") from error
