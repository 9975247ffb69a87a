"""Reopen a finished folder of shards, so that a run remakes its damaged shards."""

from __future__ import annotations

from collections.abc import Collection
from itertools import islice

from discsum.batches import batches
from discsum.data.combined_records import TOGETHER, write_combined
from discsum.data.manifest import FAILURES, MANIFEST, Manifest, digest_of, remedy_of, write_recipe
from discsum.data.records import ShardRecord
from discsum.data.shard_names import is_record
from discsum.data.storage import Location, read_bytes, remove, sizes_in
from discsum.errors import InputError


def reopen(folder: Location, manifest: Manifest, damaged: Collection[str]) -> None:
    """Remove the damaged shards of a finished folder, and write the records of the others in place of the manifest.

    If the run is killed meanwhile, the folder is still finished, or any later run can complete it.

    Args:
        folder: The folder, which this run has locked.
        manifest: Its manifest.
        damaged: File names of the shards that are missing or altered.

    Raises:
        InputError: `failures.jsonl` is not UTF-8, or its number of lines is not the manifest's, so that its lines
            cannot be assigned to shards.
    """
    path = folder / FAILURES
    content = read_bytes(path) if path.is_file() else b""
    try:
        # Not `splitlines`: a line of JSON may contain Unicode line separators.
        lines = [f"{line}\n" for line in content.decode().split("\n")[:-1]]
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: expected UTF-8, got {error}; {remedy_of(manifest.recipe)}") from error
    if len(lines) != manifest.failed:
        raise InputError(
            f"{path}: expected {manifest.failed} lines, as the manifest says, got {len(lines)}; "
            f"{remedy_of(manifest.recipe)}"
        )
    write_recipe(folder, manifest.recipe)
    digest, sizes, rest = digest_of(manifest.recipe), sizes_in(folder), iter(lines)
    # Workers that outlived their run may have left records of shards that are damaged now.
    remove(folder / name for name in sizes if is_record(name))
    records = {}
    for shard in manifest.shards:
        failures = "".join(islice(rest, shard.failed))
        if shard.file not in damaged:
            size, width = sizes[shard.file], manifest.width
            counts = shard.documents, shard.failed, width
            found = ShardRecord(shard.sha256, size, *counts, digest, shard.entries, failures, shard.given_trees)
            records[shard.file] = found
    for number, names in enumerate(batches(list(records), TOGETHER)):
        write_combined(folder, number, {name: records[name] for name in names})
    remove([folder / MANIFEST])
    remove(folder / name for name in damaged if name in sizes)
