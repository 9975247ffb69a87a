"""The size of shards: a number of documents, or of bytes of the input."""

from __future__ import annotations

import re

from discsum.errors import InputError

# Units of shard sizes.
DOCUMENTS, BYTES = SIZE_UNITS = ("documents", "bytes")
_SHIFTS = {"B": 0, "KiB": 10, "MiB": 20, "GiB": 30}


def shard_size(text: str) -> tuple[int, str]:
    """Return the number and the unit of a shard size on the command line, such as `256` or `8MiB`.

    Raises:
        InputError: Neither a number of documents nor of bytes.
    """
    match = re.fullmatch(rf"(\d{{1,12}})({'|'.join(_SHIFTS)})?", text, re.ASCII)
    if match is None or int(match[1]) == 0:
        raise InputError(
            f"shard: expected a number of documents, such as 256, or of bytes in {', '.join(_SHIFTS)}, such as 8MiB, "
            f"got {text!r}"
        )
    return (int(match[1]) << _SHIFTS[match[2]], BYTES) if match[2] else (int(match[1]), DOCUMENTS)
