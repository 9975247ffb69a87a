"""A finished folder of shards that is made unfinished again, so that a run makes its damaged shards anew."""

from __future__ import annotations

import json
from collections.abc import Collection
from itertools import islice

from discsum.data.manifest import FAILURES, MANIFEST, RECIPE, Manifest, digest_of, remedy_of
from discsum.data.records import ShardRecord
from discsum.data.storage import Location, read_bytes, remove, sizes_in, write_bytes
from discsum.errors import InputError


def reopen(folder: Location, manifest: Manifest, damaged: Collection[str]) -> None:
    """Remove the damaged shards of a finished folder, and write the records of the others in place of the manifest.

    A run that is killed meanwhile leaves a folder that is finished, or one that any run completes.

    Args:
        folder: The folder, which this run has locked.
        manifest: Its manifest.
        damaged: File names of the shards that are missing or altered.

    Raises:
        InputError: `failures.jsonl` is not as the manifest says, so that nobody knows which shard failures are of.
    """
    path = folder / FAILURES
    content = read_bytes(path) if path.is_file() else b""
    # JSON may have other line separators of Unicode within a line.
    lines = [line + b"\n" for line in content.split(b"\n")[:-1]]
    if len(lines) != manifest.failed:
        raise InputError(
            f"{path}: expected {manifest.failed} lines, as the manifest says, got {len(lines)}; "
            f"{remedy_of(manifest.recipe)}"
        )
    write_bytes(folder / RECIPE, (json.dumps(manifest.recipe, indent=1) + "\n").encode())
    digest, sizes, rest = digest_of(manifest.recipe), sizes_in(folder), iter(lines)
    for shard in manifest.shards:
        failures = b"".join(islice(rest, shard.failed)).decode("utf-8", "replace")
        if shard.file not in damaged:
            size, width = sizes[shard.file], manifest.width
            record = ShardRecord(shard.sha256, size, shard.documents, shard.failed, width, digest, failures)
            record.write(folder / shard.file)
    remove([folder / MANIFEST])
    remove(folder / name for name in damaged if name in sizes)
