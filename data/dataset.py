"""Dataset folders as `datasets.Dataset`s."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from discsum.data.manifest import Manifest
from discsum.errors import InputError
from discsum.extras import needs

if TYPE_CHECKING:
    from datasets import Dataset

MAPPED = ".mapped"


def load(folder: str | Path, *, check: bool = True) -> Dataset:
    """Return the documents of a dataset folder, in order, mapped from disk.

    Parquet cannot be mapped: the first time a copy is made that can, in the folder's own `.mapped`, or, where nothing
    can be written there, in `discsum` of the cache of the library datasets (`HF_DATASETS_CACHE`).

    Columns: those of `Document.to_json`; `references`; by unit `sentence_labels` and `edu_labels`; and if units were
    encoded `sentence_vectors` and `edu_vectors`: `(units, width)` float16 as bytes, row after row.

    Args:
        folder: What `discsum preprocess` made.
        check: Whether every file is checked against its checksum first, the copy too.

    Raises:
        InputError: A folder that is none or not finished, a file that is missing or altered, or no room for the
            copy.
    """
    with needs("datasets"):
        import datasets

        from discsum.data.mapped import mappable
    folder = Path(folder)
    manifest = Manifest.read(folder)
    if check:
        manifest.check(folder)
    shards = {folder / shard.file: shard.sha256 for shard in manifest.shards if shard.documents}
    if not shards:
        raise InputError(f"{folder}: expected a dataset folder with documents, got none: {manifest.failed} failed")
    places = (folder / MAPPED, Path(datasets.config.HF_DATASETS_CACHE) / "discsum")
    return datasets.Dataset.from_file(str(mappable(shards, places, check=check)))
