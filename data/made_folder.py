"""Folders that discsum made, as inputs: which of their files hold documents."""

from __future__ import annotations

import re
from pathlib import Path

from discsum.data.manifest import FAILURES, MANIFEST, PART, RECIPE, SHARD, Manifest
from discsum.data.part_files import FORMATS
from discsum.errors import InputError

# Names of shards and parts; other folders may have a `manifest.json` of their own.
_PART = re.compile(rf"{PART}\d{{5,}}\.({'|'.join(map(re.escape, FORMATS))})")
_SHARD = re.compile(rf"{SHARD}\d{{5,}}\.parquet|{_PART.pattern}")


def has_parts(folder: Path) -> bool:
    """Return whether `discsum parse --shards` or `extract --shards` writes, or wrote, parts into a folder."""
    return _is_made(folder) and any(_PART.fullmatch(path.name) for path in folder.iterdir())


def shard_files(folder: Path) -> list[Path] | None:
    """Return the shards or parts of a folder that discsum made, in the order of their documents; none of another one.

    Raises:
        InputError: It is not finished, or a file is missing.
    """
    names = [path.name for path in folder.iterdir()] if _is_made(folder) else []
    if FAILURES not in names and not any(map(_SHARD.fullmatch, names)):
        return None
    files = [folder / shard.file for shard in Manifest.read(folder, None).shards]
    missing = [path for path in files if not path.is_file()]
    if missing:
        raise InputError(f"{missing[0]}: expected a file that {MANIFEST} lists, found no such file")
    return files


def _is_made(folder: Path) -> bool:
    return any((folder / name).is_file() for name in (RECIPE, MANIFEST))
