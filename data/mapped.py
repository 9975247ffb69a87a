"""An Arrow copy of a dataset folder's rows, which can be memory-mapped as Parquet cannot."""

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

# Rows copied at once, and hexadecimal digits of a checksum in file names.
ROWS, DIGITS = 64, 16


def mappable(shards: Mapping[Path, str], folders: Sequence[Path], *, check: bool = True) -> Path:
    """Return the path of an Arrow copy of the shards' rows, written if there is none yet.

    Its name has the shards' checksums and its own, so a moved or copied folder keeps it, and a damaged copy is
    written again.

    Args:
        shards: Paths of the shards, in order, with their checksums.
        folders: Folders to try, in order of preference.
        check: Whether an existing copy is checked against its checksum.

    Raises:
        InputError: None of the folders is writable or has room.
    """
    name = hashlib.sha256("".join(shards.values()).encode()).hexdigest()[:DIGITS]
    for folder in folders:
        if found := _intact_copy(folder, name, check):
            return found
    problems = []
    for folder in folders:
        try:
            folder.mkdir(parents=True, exist_ok=True)
            # If several processes start together, one writes the copy.
            with FileLock(folder / ".lock"):
                return _intact_copy(folder, name, check) or _copy(list(shards), folder, name)
        except OSError as error:
            problems.append(f"{folder} ({error.strerror or error})")
    raise InputError(
        "expected room for a copy of the dataset that can be mapped into memory, got none in "
        f"{' or '.join(problems)}; make room, or set HF_DATASETS_CACHE to a folder that has some"
    )


def _intact_copy(folder: Path, name: str, check: bool) -> Path | None:
    for path in folder.glob(f"{name}-*.arrow"):
        if not check or path.stem == f"{name}-{sha256(path)[:DIGITS]}":
            return path
    return None


def _copy(files: Sequence[Path], folder: Path, name: str) -> Path:
    # Left by killed processes, or damaged; this process has the lock.
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
