"""Read CSV and TSV tables record by record."""

from __future__ import annotations

import codecs
import csv
import io
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from discsum.data.encodings import decode
from discsum.data.failures import RAISE, Failure
from discsum.data.parquet_files import PAGES
from discsum.data.storage import Location
from discsum.data.text_lines import bounded
from discsum.errors import InputError

# After a carriage return that is a line end of its own.
_RETURN = re.compile(r"(?<=\r)(?!\n|$)")


@dataclass(frozen=True)
class _Fault:
    """What is wrong with a line; `lost` if it was not read."""

    line: int
    reason: str
    lost: bool = False


def separated_rows(
    path: Location, separator: str, encoding: str, remedy: str, largest: int
) -> Iterator[tuple[str, dict[Any, Any] | Failure]]:
    """Yield the records of a table with file and line.

    A record becomes a `Failure` if it has a line that is too long or cannot be decoded, more fields than the header, or
    quotes in the wrong places. If it is unknown where it ends, it is the last one, and the `Failure` says so.

    Args:
        path: The table.
        separator: Separator of fields.
        encoding: Name of the encoding.
        remedy: Advice to the user in errors about the encoding.
        largest: Maximum bytes of a line, and characters of a field.

    Raises:
        InputError: A header that cannot be read; or, in an encoding whose line ends have several bytes, a line that is
            too long or cannot be decoded.
    """
    csv.field_size_limit(largest)
    faults: list[_Fault] = []
    reader = csv.reader(_lines(path, encoding, remedy, largest, faults), delimiter=separator, strict=True)
    names: list[str] = []
    while True:
        # A field may hold line breaks; errors name the first line of the record.
        begins = reader.line_num + 1
        source, ended = f"{path}:{begins}", False
        row: list[str] | dict[Any, Any] | Failure | None
        try:
            row = _record(next(reader), names, source)
        except StopIteration:
            return
        except csv.Error as error:
            row, ended = Failure(source, f"expected a record with fields quoted as in CSV, got: {error}"), True
        if faults:
            source = f"{path}:{faults[0].line}"
            row = Failure(source, faults[0].reason)
            # A lost line inside a quoted field may have had the closing quote.
            ended = ended or any(fault.lost and fault.line > begins for fault in faults)
            faults.clear()
        if isinstance(row, Failure) and not names:
            raise InputError(str(row))
        if isinstance(row, list):
            names = row
        elif isinstance(row, Failure) and ended:
            yield source, Failure(source, f"{row.reason}; the rows after it were not read")
            return
        elif row is not None:
            yield source, row


def _record(fields: list[str], names: Sequence[str], source: str) -> list[str] | dict[Any, Any] | Failure | None:
    """Return the row of a record's fields, the fields themselves if they are the header, or None for a blank line."""
    if not fields:
        return None
    if not names:
        return fields
    if len(fields) > len(names):
        return Failure(
            source,
            f"expected {len(names)} fields, got {len(fields)}; put quotes around a field that contains the separator",
        )
    return dict.fromkeys(names) | dict(zip(names, fields, strict=False))


def _lines(path: Location, encoding: str, remedy: str, largest: int, faults: list[_Fault]) -> Iterator[str]:
    """Yield the lines of a table with their ends, and append what is wrong with a line to `faults` before it.

    A line that is too long is blank, and bytes that cannot be decoded are replaced, so that quotes are still read.
    """
    with path.open("rb") as content:
        if "\n".encode(encoding) != b"\n":
            with io.TextIOWrapper(content, encoding, newline="") as file:
                yield from _decoded_together(file, path, encoding, remedy, largest)
            return
        number = 0
        for offset, line in bounded(content, largest):
            if len(line) > largest:
                number += 1
                reason = f"expected a line of at most {largest:,} bytes, got more; {RAISE}"
                faults.append(_Fault(number, reason, lost=True))
                yield "\n"
                continue
            try:
                text = decode(line, encoding, str(path), offset, remedy)
            except InputError as error:
                faults.append(_Fault(number + 1, str(error)))
                text = line.decode(encoding, "replace")
            for part in _RETURN.split(text if offset else text.removeprefix("\ufeff")):
                number += 1
                yield part


def _decoded_together(
    file: io.TextIOWrapper, path: Location, encoding: str, remedy: str, largest: int
) -> Iterator[str]:
    """Yield the lines of a table whose line ends have several bytes, without its byte order mark.

    Raises:
        InputError: A line of more than `largest` characters, or bytes that the encoding does not allow.
    """
    number = 0
    try:
        while line := file.readline(largest + 1):
            number += 1
            if len(line) > largest:
                raise InputError(
                    f"{path}:{number}: expected a line of at most {largest:,} characters, got more; {RAISE}"
                )
            yield line.removeprefix("\ufeff") if number == 1 else line
    except UnicodeError as error:
        # The error's offset is relative to the last chunk. Decode the file again to report the offset in the file.
        _decode_whole(path, encoding, remedy)
        raise InputError(f"{path}: expected {encoding}, got {error}; {remedy}") from error


def _decode_whole(path: Location, encoding: str, remedy: str) -> None:
    """Raise `InputError` with the offset in a file of the first byte that the encoding does not allow."""
    decoder, offset = codecs.getincrementaldecoder(encoding)(), 0
    with path.open("rb") as file:
        while chunk := file.read(PAGES):
            begun, _ = decoder.getstate()
            try:
                decoder.decode(chunk)
            except UnicodeError:
                decode(begun + chunk, encoding, str(path), offset - len(begun), remedy)
                raise
            offset += len(chunk)
