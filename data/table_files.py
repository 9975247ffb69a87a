"""The files of an input of tables: one file, the files of a folder, or the matches of a pattern."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from discsum.data.made_folder import NO_DOCUMENTS, documents_in, is_empty
from discsum.data.storage import Stored, is_pattern, location, stored
from discsum.data.tables import TABLE_KINDS, TABLES
from discsum.errors import InputError
from discsum.files import sha256
from discsum.format_registry import suffixes

# Number of blocks, and bytes of a block, that identify a local file if not all of it is read.
BLOCKS, BLOCK = 64, 1 << 16


def table_files(name: str) -> list[Stored]:
    """Return the tables that a user named, by name: a file, those in a folder, or those that match a pattern.

    A warning counts the files of other kinds that are left out.

    Raises:
        InputError: There are none.
    """
    path = location(name)
    if not is_pattern(path) or path.exists():
        if path.is_file():
            return [stored(path)]
        if not path.is_dir():
            raise InputError(f"{path}: expected a table, a dataset's folder or hf:NAME, found no such file")
    found = documents_in(path, TABLES, told=True)
    if not found:
        if is_empty(path):
            raise InputError(f"{path}: {NO_DOCUMENTS}")
        trees = documents_in(path, [ending for ending in suffixes() if ending != ".json"])
        advice = (
            f"; its trees become a table with discsum parse {path} --jsonl -o FILE.jsonl, to whose rows references are "
            "added"
            if trees
            else ""
        )
        raise InputError(f"{path}: expected tables that end in {TABLE_KINDS}, found none{advice}")
    return found


def identity_of(name: str, files: Sequence[Stored], *, whole: bool = False) -> dict[str, Any]:
    """Return what identifies tables: their bytes and versions.

    The version of a remote file is the one that its store reports, such as an ETag. The version of a local file is the
    SHA-256 of sampled blocks, or with `whole` of the whole file. Several files have their number, their total bytes and
    one digest.
    """
    versions = versions_of(files, whole=whole)
    path = location(name)
    own = path.name if isinstance(path, Path) else str(path)
    if len(files) == 1:
        return {"name": own, "bytes": files[0].size, "version": versions[0]}
    parts = [[file.path.name, file.size, version] for file, version in zip(files, versions, strict=True)]
    return {
        "name": own,
        "files": len(files),
        "bytes": sum(file.size for file in files),
        "digest": hashlib.sha256(json.dumps(parts).encode()).hexdigest(),
    }


def versions_of(files: Sequence[Stored], *, whole: bool, lenient: bool = False) -> list[str]:
    """Return a version of each file: that of its store, or the SHA-256 of a local file, whole or in sampled blocks.

    With `lenient`, the version of a local file that cannot be read is the reason; otherwise it raises `OSError`.
    """
    blocks = max(2, BLOCKS // max(1, len(files)))

    def version(file: Stored) -> str:
        if not isinstance(file.path, Path):
            return file.version
        try:
            return sha256(file.path) if whole else _sampled(file, blocks)
        except OSError as error:
            if not lenient:
                raise
            return error.strerror or str(error)

    return [version(file) for file in files]


def _sampled(file: Stored, blocks: int) -> str:
    """Return the SHA-256 of `blocks` blocks, evenly spaced from the first to the last, or of all of a small file."""
    digest = hashlib.sha256()
    with file.path.open("rb") as content:
        last = max(0, file.size - BLOCK)
        begins = range(0, file.size, BLOCK) if file.size <= blocks * BLOCK else range(0, last + 1, last // (blocks - 1))
        for begin in begins:
            content.seek(begin)
            digest.update(content.read(BLOCK))
        # The steps may miss the last block.
        content.seek(last)
        digest.update(content.read(BLOCK))
    return digest.hexdigest()
