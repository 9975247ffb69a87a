"""File names of shards and parts, and of their records."""

from __future__ import annotations

import re

# Prefixes of shards of `discsum preprocess`, and of parts of the commands with `--shards`.
SHARD, PART = "shard-", "part-"
# Endings of parts.
JSON_LINES, PARQUET = FORMATS = ("jsonl.gz", "parquet")
# Suffix of their records.
RECORD = ".json"
_PART = re.compile(rf"{PART}(\d{{5,}})\.(?:{'|'.join(map(re.escape, FORMATS))})")
_SHARD = re.compile(rf"{SHARD}(\d{{5,}})\.{PARQUET}")
_RECORD = re.compile(rf"\.(?:{SHARD}|{PART})\d{{5,}}{re.escape(RECORD)}")
_COMBINED = re.compile(r"\.records-(\d{5,})-[0-9a-f]{8}\.jsonl")


def shard_number(name: str) -> int | None:
    """Return the number of a shard or part, from its file name; None for other files."""
    found = _SHARD.fullmatch(name) or _PART.fullmatch(name)
    return None if found is None else int(found[1])


def is_part(name: str) -> bool:
    """Return whether this is the file name of a part, which a command with `--shards` wrote."""
    return _PART.fullmatch(name) is not None


def is_shard(name: str) -> bool:
    """Return whether this is the file name of a shard or part, of any command."""
    return shard_number(name) is not None


def is_record(name: str) -> bool:
    """Return whether this is the file name of the record of a shard or part, or of combined records."""
    return _RECORD.fullmatch(name) is not None or combined_number(name) >= 0


def record_name(shard: str) -> str:
    """Return the name of the file that holds a shard's record until the records are combined."""
    return f".{shard.partition('.')[0]}{RECORD}"


def combined_name(number: int, suffix: str) -> str:
    """Return the name of a file of combined records, given its number and eight hexadecimal digits."""
    return f".records-{number:05d}-{suffix}.jsonl"


def combined_number(name: str) -> int:
    """Return the number of a file of combined records, from its file name; -1 for other files."""
    found = _COMBINED.fullmatch(name)
    return -1 if found is None else int(found[1])
