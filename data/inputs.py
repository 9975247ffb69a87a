"""What the commands read: text files, folders, standard input, JSONL, CSV, Parquet, and tree files."""

from __future__ import annotations

import csv
import gzip
import io
import json
import sys
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from discsum.errors import DiscsumError, InputError, MissingExtraError

if TYPE_CHECKING:
    from discsum.document import Document

TREES = (".rs3", ".rs4", ".dis", ".rsd", ".json")
TABLES = (".jsonl", ".jsonl.gz", ".csv", ".parquet")
TEXT_COLUMNS = ("article", "text")
# What tells a line of `discsum parse --jsonl` from a text.
PARSED = {"text", "sentences", "edus", "nodes"}


@dataclass(frozen=True)
class Item:
    """One document to work on.

    Attributes:
        id: Its name: the file's stem, the table's `id` column, or the row's number.
        source: Where it comes from, as errors name it: file, and line or row.
        text: Its text.
        document: The document, where the input was a tree.
    """

    id: str
    source: str
    text: str
    document: Document | None = None


@dataclass(frozen=True)
class Failure:
    """A document that could not be read, and why."""

    source: str
    reason: str

    def __str__(self) -> str:
        """Return source and reason, the source once."""
        return self.reason if self.reason.startswith(f"{self.source}:") else f"{self.source}: {self.reason}"


def read_inputs(
    inputs: Sequence[str], *, encoding: str = "utf-8", text_column: str | None = None, trees: bool = True
) -> Iterator[Item | Failure]:
    """Yield the documents of all inputs in order; what cannot be read becomes a `Failure` and the rest goes on.

    Args:
        inputs: Files, folders (their text, table and tree files, by name), or `-` for standard input.
        encoding: Of text and table files.
        text_column: Column of a table that holds the text; by default `article` or `text`.
        trees: Whether tree files count as input.
    """
    for name in inputs:
        try:
            if name == "-":
                yield Item("stdin", "standard input", decode(sys.stdin.buffer.read(), encoding, "standard input"))
                continue
            for path in _files(Path(name), trees):
                yield from _read_file(path, encoding, text_column, trees)
        except (DiscsumError, OSError) as error:
            yield Failure(name, str(error))


def decode(content: bytes, encoding: str, source: str) -> str:
    """Return the text of a file, every character as it is; only a byte order mark is no part of it.

    Raises:
        InputError: Bytes that are not of that encoding; the message names the first one's offset.
    """
    try:
        return content.decode(encoding).removeprefix("\ufeff")
    except UnicodeDecodeError as error:
        raise InputError(
            f"{source}: expected {encoding}, got byte 0x{content[error.start]:02x} at offset {error.start}; "
            "name the file's encoding with --encoding"
        ) from error
    except LookupError as error:
        raise InputError(f"expected the name of an encoding with --encoding, got {encoding!r}") from error


def _files(path: Path, trees: bool) -> list[Path]:
    if not path.exists():
        raise InputError(f"{path}: no such file or folder")
    if not path.is_dir():
        return [path]
    kinds = {".txt", *TABLES, *(TREES if trees else ())}
    found = sorted(child for child in path.rglob("*") if child.is_file() and child.name.lower().endswith(tuple(kinds)))
    if not found:
        raise InputError(f"{path}: expected files that end in {', '.join(sorted(kinds))}, found none")
    return found


def _read_file(path: Path, encoding: str, text_column: str | None, trees: bool) -> Iterator[Item | Failure]:
    suffix = path.suffix.lower()
    try:
        if suffix in TREES and trees:
            from discsum.parsers.formats import read_tree

            document = read_tree(path, encoding)
            yield Item(path.stem, str(path), document.text, document)
        elif path.name.lower().endswith(TABLES):
            same_columns = suffix in (".csv", ".parquet")
            for number, (source, row) in enumerate(read_rows(path, encoding), start=1):
                if isinstance(row, dict) and same_columns and number == 1:
                    # Without its column the table fails as a whole, once, and not row by row.
                    _text_column(row, text_column)
                yield row if isinstance(row, Failure) else _item(row, source, path, number, text_column)
        else:
            yield Item(path.stem, str(path), decode(path.read_bytes(), encoding, str(path)))
    except (DiscsumError, OSError, EOFError, zlib.error, csv.Error) as error:
        yield Failure(str(path), str(error))


def read_rows(path: Path, encoding: str) -> Iterator[tuple[str, dict[str, Any] | Failure]]:
    """Yield the rows of a table, each with its file and line; a line that is no JSON object becomes a `Failure`.

    Raises:
        InputError: A file that is no table, or not of the encoding.
    """
    kind = "".join(path.suffixes[-2:]).lower() if path.suffix.lower() == ".gz" else path.suffix.lower()
    if kind == ".parquet":
        for number, row in enumerate(_parquet_rows(path), start=1):
            yield f"{path}:{number}", row
        return
    content = path.read_bytes()
    text = decode(gzip.decompress(content) if kind == ".jsonl.gz" else content, encoding, str(path))
    if kind == ".csv":
        csv.field_size_limit(max(csv.field_size_limit(), len(text)))
        reader, begins = csv.DictReader(io.StringIO(text, newline="")), 2
        for row in reader:
            # A field may hold line breaks: the record's first line is named.
            yield f"{path}:{begins}", row
            begins = reader.line_num + 1
    elif kind in (".jsonl", ".jsonl.gz"):
        for number, line in enumerate(text.split("\n"), start=1):
            if line.strip():
                yield f"{path}:{number}", _json_object(line, f"{path}:{number}")
    else:
        raise InputError(f"{path}: expected a table that ends in {', '.join(TABLES)}")


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


def _item(row: dict[str, Any], source: str, path: Path, number: int, text_column: str | None) -> Item | Failure:
    try:
        column = _text_column(row, text_column)
    except InputError as error:
        return Failure(source, str(error))
    if not isinstance(row[column], str):
        return Failure(source, f"expected text in column {column}, got {type(row[column]).__name__}")
    name = row.get("id")
    own = f"{Path(path.name.removesuffix('.gz')).stem}-{number}"
    document = None
    if text_column is None and row.keys() >= PARSED:
        from discsum.parsers.formats.json import from_object

        try:
            document = from_object(row, source=source)
        except DiscsumError as error:
            return Failure(source, str(error))
    return Item(str(name) if name not in (None, "") else own, source, row[column], document)


def _text_column(row: dict[str, Any], text_column: str | None) -> str:
    wanted = (text_column,) if text_column else TEXT_COLUMNS
    for name in wanted:
        if name in row:
            return name
    found = ", ".join(str(name) for name in row if name is not None) or "none"
    raise InputError(f"expected a column {' or '.join(wanted)}, got the columns {found}; name one with --text-column")
