"""Reopen a finished folder of shards, so that a run remakes its damaged shards."""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping
from itertools import islice
from pathlib import Path

from discsum.batches import batches
from discsum.data.combined_records import TOGETHER, write_combined
from discsum.data.manifest import FAILURES, MANIFEST, Manifest, digest_of, faults_of, write_recipe
from discsum.data.records import ShardRecord
from discsum.data.shard_names import is_record
from discsum.data.storage import Location, read_bytes, remove, sizes_in
from discsum.errors import DamagedError, number_of


def damage_of(folder: Location, manifest: Manifest) -> dict[str, str]:
    """Return the files of a finished folder that are missing or altered, by name, with what is wrong.

    If the list of failures is damaged, so that its lines cannot be assigned to shards, these include all shards with
    failures.
    """
    damage = {shard.file: fault for shard, fault in faults_of(manifest, folder)}
    found: int | str
    try:
        found = len(_failure_lines(folder, "strict"))
    except UnicodeDecodeError as error:
        found = str(error)
    if found != manifest.failed:
        fault = f"{folder / FAILURES}: expected {number_of(manifest.failed, 'line')}, as the manifest says, got {found}"
        damage = dict.fromkeys([FAILURES, *(shard.file for shard in manifest.shards if shard.failed)], fault) | damage
    return damage


def check_repairable(folder: Location, damage: Mapping[str, str]) -> None:
    """Raise `DamagedError` about the damage of a folder on a disk that cannot be written."""
    if isinstance(folder, Path) and not os.access(folder, os.W_OK):
        fault = next(iter(damage.values()))
        raise DamagedError(f"{fault}; {folder} is read-only: make it writable, so that --verify can repair it")


def _failure_lines(folder: Location, errors: str) -> list[str]:
    path = folder / FAILURES
    content = read_bytes(path) if path.is_file() else b""
    # Not `splitlines`: a line of JSON may contain Unicode line separators.
    return [f"{line}\n" for line in content.decode(errors=errors).split("\n")[:-1]]


def reopen(folder: Location, manifest: Manifest, damaged: Collection[str]) -> None:
    """Remove the damaged files of a finished folder, and write the records of the others in place of the manifest.

    If the run is killed meanwhile, the folder is still finished, or any later run can complete it.

    Args:
        folder: The folder, which this run has locked.
        manifest: Its manifest.
        damaged: Names of the files of `damage_of`.
    """
    # If the list is damaged, the shards that are kept have no lines in it.
    lines = iter(_failure_lines(folder, "replace"))
    write_recipe(folder, manifest.recipe)
    digest, sizes = digest_of(manifest.recipe), sizes_in(folder)
    # Workers that outlived their run may have left records of shards that are damaged now.
    remove(folder / name for name in sizes if is_record(name))
    records = {}
    for shard in manifest.shards:
        failures = "".join(islice(lines, shard.failed))
        if shard.file not in damaged:
            size, width = sizes[shard.file], manifest.width
            counts = shard.documents, shard.failed, width
            found = ShardRecord(shard.sha256, size, *counts, digest, shard.entries, failures, shard.given_trees)
            records[shard.file] = found
    for number, names in enumerate(batches(list(records), TOGETHER)):
        write_combined(folder, number, {name: records[name] for name in names})
    remove([folder / MANIFEST])
    remove(folder / name for name in damaged if name in sizes)
