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

    Parquet cannot be memory-mapped: the first call writes an Arrow copy to the folder's `.mapped` or, if that is not
    writable, to `discsum` in the cache of `datasets` (`HF_DATASETS_CACHE`).

    Columns: those of `Document.to_json`; `references`; `sentence_labels` and `edu_labels`; and, if encoded,
    `sentence_vectors` and `edu_vectors`: `(units, width)` float16 as bytes, row by row.

    Args:
        folder: Written by `discsum preprocess`.
        check: Whether all files, the copy included, are checked against their checksums first.

    Raises:
        InputError: Not a finished dataset folder, a missing or altered file, or no room for the copy.
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
