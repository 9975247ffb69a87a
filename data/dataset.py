"""Load dataset folders as `datasets.Dataset`, from an Arrow copy: unlike Parquet, it can be memory-mapped."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from discsum.data.locks import LOCK
from discsum.data.manifest import Manifest, check_sums
from discsum.data.rows import shard_errors
from discsum.data.shards import check_shards
from discsum.data.storage import Location, location
from discsum.errors import InputError
from discsum.extras import needs
from discsum.files import clear_unfinished, locked, replacing, sha256

with needs("pyarrow"):
    import pyarrow as pa
    from pyarrow import parquet as pq

if TYPE_CHECKING:
    from datasets import Dataset

# Folder of the copy in a dataset folder.
MAPPED = ".mapped"
# Rows copied at once, and hexadecimal digits of a checksum in file names.
ROWS, DIGITS = 64, 16


def load(folder: str | Location, first: int = 0, last: int | None = None, *, check: bool = True) -> Dataset:
    """Return the documents of a dataset folder, in order, mapped from disk.

    The first call writes an Arrow copy to the folder's `.mapped` or, if that is not writable or in a store, to
    `discsum` in the cache of `datasets` (`HF_DATASETS_CACHE`). `discsum.data.rows.open_rows` needs no copy.

    Columns: those of `Document.to_json` except `erst` and `surrogates`; `references`; `sentence_labels` and
    `edu_labels`; and, if encoded, `sentence_vectors` and `edu_vectors`: `(units, width)` float16 as bytes, row by row.

    Args:
        folder: Written by `discsum preprocess`.
        first: First document, from 0.
        last: End of the documents, exclusive.
        check: Whether to compare all files, including the copy, with their checksums first.

    Raises:
        InputError: Not a finished dataset folder, a missing or altered file, or no room for the copy.
    """
    with needs("datasets"):
        import datasets
    folder = location(folder)
    manifest = Manifest.read(folder)
    if check:
        check_sums(manifest, folder)
        check_shards(manifest, folder)
    rows = datasets.Dataset.from_file(str(mapped(folder, manifest, check=check)))
    chosen = range(len(rows))[first:last]
    return rows.select(chosen if len(chosen) else [])


def mapped(folder: Location, manifest: Manifest, *, check: bool = True) -> Path:
    """Return the path of a dataset folder's Arrow copy; write the copy first if there is none.

    Raises:
        InputError: No documents, no room for the copy, or a shard that cannot be read.
    """
    with needs("datasets"):
        import datasets
    shards = manifest.nonempty_shards(folder)
    # The copy is named after the checksums of the shards and its own: a moved folder keeps its copy, and a damaged copy
    # is replaced.
    name = hashlib.sha256("".join(shard.sha256 for shard in shards).encode()).hexdigest()[:DIGITS]
    places = [Path(datasets.config.HF_DATASETS_CACHE) / "discsum"]
    if isinstance(folder, Path):
        places.insert(0, folder / MAPPED)
    copies = (_intact_copy(place, name, check) for place in places)
    files = [folder / shard.file for shard in shards]
    return next(filter(None, copies), None) or _new_copy(files, places, name, check)


def _new_copy(shards: Sequence[Location], places: Sequence[Path], name: str, check: bool) -> Path:
    """Write the copy to the first of the places that is writable and has room."""
    problems = []
    for place in places:
        try:
            place.mkdir(parents=True, exist_ok=True)
            # If several processes start together, one writes the copy.
            with locked(place / LOCK, place, wait=True):
                return _intact_copy(place, name, check) or _copy(shards, place, name)
        except OSError as error:
            problems.append(f"{place} ({error.strerror or error})")
    raise InputError(
        "expected room for a memory-mapped copy of the dataset, got none in "
        f"{' or '.join(problems)}; free some space, or set HF_DATASETS_CACHE to a folder that has some"
    )


def _intact_copy(folder: Path, name: str, check: bool) -> Path | None:
    for path in folder.glob(f"{name}-*.arrow"):
        if not check or path.stem == f"{name}-{sha256(path)[:DIGITS]}":
            return path
    return None


def _copy(files: Sequence[Location], folder: Path, name: str) -> Path:
    clear_unfinished(folder)
    # These copies are damaged. This process holds the lock, so no other process is writing one.
    for old in folder.glob(f"{name}-*.arrow"):
        old.unlink()
    with shard_errors(files[0]), files[0].open("rb") as first:
        columns = pq.read_schema(first).remove_metadata()
    path = folder / f"{name}.arrow"
    with replacing(path) as partial, partial.open("wb") as file, pa.ipc.new_stream(file, columns) as stream:
        for batch in _batches(files, columns):
            stream.write_batch(batch)
    return path.rename(folder / f"{name}-{sha256(path)[:DIGITS]}.arrow")


def _batches(files: Sequence[Location], columns: pa.Schema) -> Iterator[pa.RecordBatch]:
    """Yield the rows of shards that have the given columns."""
    for path in files:
        with shard_errors(path), path.open("rb") as file:
            # Without pre-buffering; see `ShardFile.opened`.
            for batch in pq.ParquetFile(file, pre_buffer=False).iter_batches(batch_size=ROWS):
                yield batch.cast(columns)
