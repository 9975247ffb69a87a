"""The size of shards: a number of documents, or of bytes of the input."""

from __future__ import annotations

import re

from discsum.errors import InputError

# What a shard is a number of.
DOCUMENTS, BYTES = SIZE_UNITS = ("documents", "bytes")
_SHIFTS = {"B": 0, "KiB": 10, "MiB": 20, "GiB": 30}


def shard_size(text: str) -> tuple[int, str]:
    """Return the size of shards that the command line names, as `256` or `8MiB`, and what it counts.

    Raises:
        InputError: Neither.
    """
    match = re.fullmatch(rf"(\d{{1,12}})({'|'.join(_SHIFTS)})?", text, re.ASCII)
    if match is None or int(match[1]) == 0:
        raise InputError(
            f"shard: expected a number of documents, as 256, or of bytes in {', '.join(_SHIFTS)}, as 8MiB, got {text!r}"
        )
    return (int(match[1]) << _SHIFTS[match[2]], BYTES) if match[2] else (int(match[1]), DOCUMENTS)
