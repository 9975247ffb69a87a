"""Tables of documents, read row by row: JSONL, CSV, Parquet."""

from __future__ import annotations

import csv
import gzip
import json
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO, Any

from discsum.errors import InputError, MissingExtraError

TABLES = (".jsonl", ".jsonl.gz", ".csv", ".parquet")
# What to do about bytes of another encoding: for commands with an option for it, and for all others.
NAME_IT, CONVERT = "name the file's encoding with --encoding", "save the file as UTF-8 first, as iconv does"


@dataclass(frozen=True)
class Failure:
    """A document that could not be read, and why."""

    source: str
    reason: str

    def __str__(self) -> str:
        """Return source and reason, the source once."""
        return self.reason if self.reason.startswith(f"{self.source}:") else f"{self.source}: {self.reason}"


def decode(content: bytes, encoding: str, source: str, offset: int = 0, remedy: str = CONVERT) -> str:
    """Return the text of a file, every character as it is; only a byte order mark is no part of it.

    Args:
        content: The file's bytes, or some of them.
        encoding: Its encoding.
        source: The file, as errors name it.
        offset: Where in the file the bytes begin.
        remedy: What an error says to do.

    Raises:
        InputError: Bytes that are not of that encoding; the message names the first one's offset.
    """
    try:
        text = content.decode(encoding)
    except UnicodeDecodeError as error:
        raise InputError(
            f"{source}: expected {encoding}, got byte 0x{content[error.start]:02x} at offset {offset + error.start}; "
            f"{remedy}"
        ) from error
    except LookupError as error:
        raise InputError(f"expected the name of an encoding with --encoding, got {encoding!r}") from error
    return text if offset else text.removeprefix("\ufeff")


def read_rows(path: Path, encoding: str, remedy: str = CONVERT) -> Iterator[tuple[str, dict[str, Any] | Failure]]:
    """Yield the rows of a table, each with its file and line; a line that is no JSON object becomes a `Failure`.

    The table is read as it goes, so that one of any size may be read. `remedy` is what an error about the encoding says
    to do.

    Raises:
        InputError: A file that is no table, is cut off, or, if it is a CSV file, not of the encoding.
    """
    kind = "".join(path.suffixes[-2:]).lower() if path.suffix.lower() == ".gz" else path.suffix.lower()
    if kind == ".parquet":
        for number, row in enumerate(_parquet_rows(path), start=1):
            yield f"{path}:{number}", row
    elif kind == ".csv":
        yield from _csv_rows(path, encoding, remedy)
    elif kind in (".jsonl", ".jsonl.gz"):
        for number, line in enumerate(_lines(path, encoding, remedy), start=1):
            source = f"{path}:{number}"
            if isinstance(line, Failure):
                yield source, replace(line, source=source)
            elif line.strip():
                yield source, _json_object(line, source)
    else:
        raise InputError(f"{path}: expected a table that ends in {', '.join(TABLES)}")


def count_rows(path: Path) -> int | None:
    """Return how many rows a table has, where that can be told faster than by reading them; none where it cannot."""
    try:
        if path.suffix.lower() == ".parquet":
            from pyarrow.parquet import read_metadata

            return int(read_metadata(path).num_rows)
        if path.name.lower().endswith((".jsonl", ".jsonl.gz")):
            with _opened(path) as file:
                return sum(bool(line.strip()) for line in file)
    except (ImportError, OSError, EOFError, ValueError, zlib.error):
        # A file that is missing, cut off or no Parquet, or no pyarrow: reading its rows says so in full.
        return None
    return None


def _lines(path: Path, encoding: str, remedy: str) -> Iterator[str | Failure]:
    """Yield the lines of a text file, compressed or not; one that is not of the encoding becomes a `Failure`."""
    with _opened(path) as file:
        try:
            if "\n".encode(encoding) != b"\n":
                # Line ends of several bytes, as in UTF-16: the bytes cannot be parted before they are decoded.
                yield from decode(file.read(), encoding, str(path), remedy=remedy).split("\n")
                return
            offset = 0
            for line in file:
                try:
                    yield decode(line, encoding, str(path), offset, remedy).removesuffix("\n")
                except InputError as error:
                    yield Failure(str(path), str(error))
                offset += len(line)
        except (EOFError, zlib.error, gzip.BadGzipFile) as error:
            raise InputError(
                f"{path}: expected a whole gzip file, got one that is cut off or damaged: {error}"
            ) from error


def _opened(path: Path) -> IO[bytes]:
    return gzip.GzipFile(path) if path.suffix.lower() == ".gz" else path.open("rb")  # type: ignore[return-value]


def _csv_rows(path: Path, encoding: str, remedy: str) -> Iterator[tuple[str, dict[str, Any]]]:
    csv.field_size_limit(max(csv.field_size_limit(), path.stat().st_size))
    with path.open(encoding=encoding, newline="") as file:
        reader, begins = csv.DictReader(file), 2
        try:
            if file.read(1) != "\ufeff":
                file.seek(0)
            for row in reader:
                # A field may hold line breaks: the record's first line is named.
                yield f"{path}:{begins}", row
                begins = reader.line_num + 1
        except UnicodeDecodeError:
            # The error knows its place in what was read last only; this one knows it in the file.
            decode(path.read_bytes(), encoding, str(path), remedy=remedy)
            raise
        except csv.Error as error:
            raise InputError(f"{path}:{reader.line_num}: expected a CSV record, got: {error}") from error


def _json_object(line: str, source: str) -> dict[str, Any] | Failure:
    try:
        row = json.loads(line)
    except (ValueError, RecursionError) as error:
        return Failure(source, f"expected a JSON object a line, got {line[:40]!r} ({error})")
    return row if isinstance(row, dict) else Failure(source, f"expected a JSON object, got {type(row).__name__}")


def _parquet_rows(path: Path) -> Iterator[dict[str, Any]]:
    try:
        from pyarrow import ArrowInvalid
        from pyarrow.parquet import ParquetFile
    except ImportError as error:
        raise MissingExtraError("Parquet files need pyarrow. Please run: pip install pyarrow") from error
    try:
        for batch in ParquetFile(path).iter_batches(batch_size=256):
            yield from batch.to_pylist()
    except ArrowInvalid as error:
        raise InputError(f"{path}: expected a Parquet file: {error}") from error
