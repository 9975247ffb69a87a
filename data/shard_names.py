"""Names of the files of documents that discsum writes into a folder, and of their records."""

from __future__ import annotations

import re

# Prefixes of the files of `discsum preprocess`, and of those of `discsum parse` and `extract`.
SHARD, PART = "shard-", "part-"
# Endings of the latter.
JSON_LINES, PARQUET = FORMATS = ("jsonl.gz", "parquet")
# Suffix of their records.
RECORD = ".json"
_PART = re.compile(rf"{PART}(\d{{5,}})\.(?:{'|'.join(map(re.escape, FORMATS))})")
_SHARD = re.compile(rf"{SHARD}(\d{{5,}})\.{PARQUET}")
# Earlier versions had checksums beside their shards.
_RECORD = re.compile(rf"\.(?:{SHARD}|{PART})\d{{5,}}(?:{re.escape(RECORD)}|\.sha256)")


def number_of(name: str) -> int | None:
    """Return the number of a file of documents, from its name; none for other files."""
    found = _SHARD.fullmatch(name) or _PART.fullmatch(name)
    return None if found is None else int(found[1])


def is_part(name: str) -> bool:
    """Return whether a file is named as those of `discsum parse` and `extract`."""
    return _PART.fullmatch(name) is not None


def is_shard(name: str) -> bool:
    """Return whether a file is named as one of documents, of any command."""
    return number_of(name) is not None


def is_record(name: str) -> bool:
    """Return whether a file is named as the record of one of documents."""
    return _RECORD.fullmatch(name) is not None


def record_name(shard: str) -> str:
    """Return the name of the file that holds a shard's record until the manifest is written."""
    return f".{shard.partition('.')[0]}{RECORD}"
