"""Read tables of documents row by row: JSON lines, CSV, TSV, Parquet."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

from discsum.constants import MAX_DOCUMENT_BYTES
from discsum.data.compressed import PACKED, is_packed, opened
from discsum.data.encodings import CONVERT, check_encoding, decode
from discsum.data.failures import RAISE, Failure
from discsum.data.parquet_files import Columns, opened_parquet, parquet_batches, rows_in
from discsum.data.separated_rows import separated_rows
from discsum.data.storage import Location
from discsum.data.text_lines import bounded, decoded
from discsum.errors import DiscsumError, InputError, warn_caller
from discsum.extras import needs
from discsum.files import read_up_to
from discsum.json_objects import json_type

# Endings of tables with a JSON object per line.
LINE_TABLES = (".jsonl", ".ndjson")
# Tables with a separator between fields; fields are quoted as in CSV.
SEPARATED = {".csv": ",", ".tsv": "\t"}
# Endings of tables whose rows all have the same columns, and of all tables; how errors name the latter.
SAME_COLUMNS = (*(kind + packed for kind in SEPARATED for packed in ("", *PACKED)), ".parquet")
TABLES = (*(kind + packed for kind in LINE_TABLES for packed in ("", *PACKED)), *SAME_COLUMNS)
TABLE_KINDS = f"{', '.join((*LINE_TABLES, *SEPARATED))}, one of these compressed ({', '.join(PACKED)}), or .parquet"
_Row = TypeVar("_Row")


def find_column(row: Mapping[str, Any], choices: Sequence[str], remedy: str) -> str:
    """Return the first of the columns that a row has.

    Raises:
        InputError: It has none of them; the message lists the columns that it has, and ends with `remedy`.
    """
    for name in choices:
        if name in row:
            return name
    found = ", ".join(str(name) for name in row if name is not None) or "none"
    raise InputError(f"expected a column {' or '.join(choices)}, got the columns {found}; {remedy}")


def warn_of_other_columns(row: Mapping[str, Any], choices: Sequence[str], remedy: str, path: Location | str) -> None:
    """Warn if a table has several of the columns of which only the first is read."""
    found = [name for name in choices if name in row]
    if len(found) > 1:
        message = f"got the columns {' and '.join(found)}; {found[0]} is read; {remedy}"
        warn_caller(f"{path}: {message}")


def read_rows(
    path: Location,
    encoding: str,
    remedy: str = CONVERT,
    largest: int = MAX_DOCUMENT_BYTES,
    columns: Columns | None = None,
) -> Iterator[tuple[str, dict[str, Any] | Failure]]:
    """Yield the rows of a table with file and line; a line or record that cannot be read becomes a `Failure`.

    Rows are streamed, so the table may have any size. A warning tells if there are none.

    Args:
        path: The table.
        encoding: Name of the encoding.
        remedy: Advice to the user in errors about the encoding.
        largest: Maximum bytes of a line of JSON, or of a field of a record; a longer line becomes a `Failure`.
        columns: Returns the needed columns; only these are read from Parquet files.

    Raises:
        InputError: No such encoding, or a file that is not a table, or is truncated; also as for `separated_rows`.
    """
    check_encoding(encoding)
    rows = _rows_of(path, encoding, remedy, largest, columns)
    first = next(rows, None)
    if first is None:
        warn_caller(f"{path}: expected a table with documents, got none")
        return
    yield first
    yield from rows


def _rows_of(
    path: Location, encoding: str, remedy: str, largest: int, columns: Columns | None
) -> Iterator[tuple[str, dict[str, Any] | Failure]]:
    """Yield the rows of a table; see `read_rows`."""
    if not is_table(path):
        raise InputError(f"{path}: expected a table that ends in {TABLE_KINDS}")
    kind = kind_of(path)
    if kind == ".parquet":
        with opened_parquet(path) as table:
            batches = parquet_batches(table, str(path), columns=_chosen(columns, table.schema_arrow.names))
            for number, row in _numbered("row", (row for batch in batches for row in rows_in(batch))):
                source = f"{path}:{number}"
                yield source, replace(row, source=source) if isinstance(row, Failure) else row
    elif kind in SEPARATED:
        yield from separated_rows(path, SEPARATED[kind], encoding, remedy, largest)
    else:
        for number, line in _numbered("line", _lines(path, encoding, remedy, largest)):
            source = f"{path}:{number}"
            found = json_row(line, source)
            if found is not None:
                yield source, found


def _numbered(kind: str, rows: Iterable[_Row]) -> Iterator[tuple[int, _Row]]:
    """Yield rows or lines with their numbers, from 1; an error after the first one says which are not read."""
    number = 0
    try:
        for number, row in enumerate(rows, start=1):
            yield number, row
    except InputError as error:
        if not number:
            raise
        raise type(error)(f"{error}; what follows {kind} {number:,} is not read") from error


def _chosen(columns: Columns | None, names: Sequence[str]) -> Sequence[str]:
    """Return the needed columns, or all if the table lacks them: its first row raises the error then."""
    try:
        return names if columns is None else columns(names)
    except InputError:
        return names


def is_table(path: Location | str) -> bool:
    """Return whether a file has the ending of a table."""
    return (path if isinstance(path, str) else path.name).lower().endswith(TABLES)


def kind_of(path: Location) -> str:
    """Return the kind of a table by its ending, without that of compressed files: `.csv` also for `news.csv.gz`."""
    name = path.name.lower()
    plain = name.removesuffix(path.suffix.lower()) if is_packed(path) else name
    return next((kind for kind in (*LINE_TABLES, *SEPARATED, ".parquet") if plain.endswith(kind)), "")


def stem_of(path: Location, *, packed: bool = False) -> str:
    """Return a file's name without its ending, and of a `packed` one also without that before, for an id.

    Bytes that are not UTF-8 are escaped, because they cannot be written as JSON or Parquet.
    """
    name = Path(path.name).stem if packed and is_packed(path) else path.name
    return Path(name).stem.encode("utf-8", "backslashreplace").decode()


def own_id(value: Any) -> str:
    """Return the id in a row; an empty string if there is none: null, empty or not a number."""
    return "" if value is None or value != value else str(value)


def row_id(path: Location, label: str) -> str:
    """Return the id of a table's row that has none of its own."""
    return f"{stem_of(path, packed=True)}-{label}"


def count_rows(path: Location) -> int | None:
    """Return the number of rows of a Parquet table or of local JSON lines; None for others, or if there is an error."""
    kind = kind_of(path)
    try:
        if kind == ".parquet":
            with needs("pyarrow"), opened_parquet(path) as table:
                return int(table.metadata.num_rows)
        # Remote files are not read a second time only to be counted.
        if kind in LINE_TABLES and isinstance(path, Path):
            with opened(path) as file:
                return sum(not line.isspace() for _, line in bounded(file, MAX_DOCUMENT_BYTES))
    except (DiscsumError, OSError, ValueError):
        # Missing or damaged file, or no pyarrow: reading the rows raises the full error.
        return None
    return None


def _lines(path: Location, encoding: str, remedy: str, largest: int) -> Iterator[str | Failure]:
    """Yield the lines of a text file; one that is too long or cannot be decoded becomes a `Failure`."""
    with opened(path) as file:
        if "\n".encode(encoding) != b"\n":
            # Line ends have several bytes, as in UTF-16: decode before splitting.
            content = read_up_to(file, largest + 1)
            if len(content) > largest:
                raise InputError(
                    f"{path}: expected at most {largest:,} bytes of {encoding}, got more; {RAISE}, or {CONVERT}"
                )
            yield from decode(content, encoding, str(path), remedy=remedy).split("\n")
            return
        for _, line in decoded(file, str(path), encoding, largest, remedy=remedy):
            yield line


def is_blank(line: bytes, encoding: str, offset: int) -> bool:
    """Return whether a line, given with its offset, is only white space, so that `json_row` skips it."""
    if line.startswith(b"{"):
        return False
    text = line.decode(encoding, "replace")
    return not (text if offset else text.removeprefix("\ufeff")).strip()


def json_row(line: str | Failure, source: str) -> dict[str, Any] | Failure | None:
    """Return the row in a line of JSON, or a `Failure`; None for a blank line."""
    if isinstance(line, Failure):
        return replace(line, source=source)
    return _json_object(line, source) if line.strip() else None


def _json_object(line: str, source: str) -> dict[str, Any] | Failure:
    try:
        row = json.loads(line)
    except (ValueError, RecursionError) as error:
        return Failure(source, f"expected one JSON object per line, got {line[:40]!r} ({error})")
    if isinstance(row, dict):
        return row
    remedy = "; write each object on a line of its own" if isinstance(row, list) else ""
    return Failure(source, f"expected a JSON object, got {json_type(row)}{remedy}")
