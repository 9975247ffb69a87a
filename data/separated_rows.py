"""Read CSV and TSV tables record by record."""

from __future__ import annotations

import codecs
import csv
import io
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from discsum.data.compressed import opened
from discsum.data.encodings import check_mark, decode, needs_mark
from discsum.data.failures import RAISE, Failure
from discsum.data.parquet_files import PAGES
from discsum.data.storage import Location
from discsum.errors import InputError, warn_caller

# Bytes that `surrogateescape` could not decode.
_ESCAPED = re.compile("[\udc80-\udcff]")

# What may separate the columns of a table, in .csv and .tsv files and elsewhere.
SEPARATORS = ",\t;|"
LOST = "rows from there on are not read"


@dataclass
class _Faults:
    """What is wrong with the lines of a record.

    Attributes:
        line: Number of the first such line; 0 if there is none.
        reason: What is wrong with it.
        open: Whether it is unknown where the record ends, because a line was not read that opens or closes a quote.
    """

    line: int = 0
    reason: str = ""
    open: bool = False

    def add(self, line: int, reason: str, *, open: bool = False) -> None:
        """Add a line."""
        if not self.line:
            self.line, self.reason = line, reason
        self.open = self.open or open


def separated_rows(
    path: Location, separator: str, encoding: str, remedy: str, largest: int
) -> Iterator[tuple[str, dict[Any, Any] | Failure]]:
    """Yield the records of a table with file and line.

    A record with a line that is too long or cannot be decoded, or with more fields than the header, becomes a
    `Failure`, and the records after it are read.

    Args:
        path: The table.
        separator: Separator of fields.
        encoding: Name of the encoding.
        remedy: Advice to the user in errors about the encoding.
        largest: Maximum characters of a line and of a field.

    Raises:
        InputError: Another separator; quotes in the wrong places, or another record of which it is unknown where it
            ends; a header that cannot be read; or, in an encoding whose line ends have several bytes, a line that
            cannot be decoded.
    """
    csv.field_size_limit(largest)
    faults = _Faults()
    reader = csv.reader(_lines(path, encoding, remedy, largest, faults), delimiter=separator, strict=True)
    names: list[str] = []
    while True:
        # A field may hold line breaks; errors name the first line of the record.
        source = f"{path}:{reader.line_num + 1}"
        try:
            fields = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            if faults.open:
                raise InputError(f"{path}:{faults.line}: {faults.reason}; {LOST}") from error
            # The module csv has no class or code for this error.
            if "field limit" in str(error):
                raise InputError(
                    f"{source}: expected fields of at most {largest:,} characters, got a longer one; {RAISE}; {LOST}"
                ) from error
            raise InputError(
                f"{source}: expected a record with fields quoted as in CSV, got: {error}; {LOST}"
            ) from error
        if faults.line:
            source = f"{path}:{faults.line}"
            if faults.open or not names:
                raise InputError(f"{source}: {faults.reason}; {LOST}")
            yield source, Failure(source, faults.reason)
            faults.line, faults.reason = 0, ""
        elif not names:
            names = fields
            _check_names(names, path, separator)
        elif fields:
            yield source, _record(fields, names, source)


def _check_names(names: Sequence[str], path: Location, separator: str) -> None:
    """Warn about columns with the same name.

    Raises:
        InputError: A single name that consists of several, as in a table with semicolons.
    """
    others = [mark for mark in SEPARATORS if len(names) == 1 and mark != separator and mark in names[0]]
    if others and " " not in names[0]:
        raise InputError(
            f"{path}:1: expected columns separated by {separator!r}, got {names[0]!r:.80}, separated by {others[0]!r}; "
            "use commas in .csv and tabs in .tsv files"
        )
    if twice := sorted(name for name, count in Counter(names).items() if count > 1 and name):
        message = f"expected columns with different names, got {', '.join(twice)} more than once; the last one is read"
        warn_caller(f"{path}: {message}")


def _record(fields: list[str], names: Sequence[str], source: str) -> dict[Any, Any] | Failure:
    """Return the row of a record's fields; a failure if it has more than the header."""
    if len(fields) > len(names):
        return Failure(
            source,
            f"expected {len(names)} fields, got {len(fields)}; put quotes around a field that contains the separator",
        )
    return dict.fromkeys(names) | dict(zip(names, fields, strict=False))


def _lines(path: Location, encoding: str, remedy: str, largest: int, faults: _Faults) -> Iterator[str]:
    """Yield the lines of a table with their ends and without its byte order mark; add what is wrong with a line first.

    A line that is too long is blank. Bytes that cannot be decoded are escaped, so that quotes around them are read.
    """
    # Encodings whose line ends have several bytes cannot escape bytes.
    escaped = "\n".encode(encoding) == b"\n"
    errors = "surrogateescape" if escaped else "strict"
    number = offset = 0
    if needs_mark(encoding):
        with opened(path) as content:
            check_mark(content.read(4), encoding, str(path), remedy)
    with opened(path) as content, io.TextIOWrapper(content, encoding, errors, newline="") as file:
        try:
            while line := file.readline(largest + 1):
                number += 1
                size = 0
                if len(line) > largest:
                    quotes, size = _skipped(file, line, largest, encoding, errors)
                    reason = f"expected a line of at most {largest:,} characters, got more; {RAISE}"
                    faults.add(number, reason, open=quotes % 2 == 1)
                    line = "\n"
                elif escaped:
                    own = line.encode(encoding, errors)
                    size = len(own)
                    if _ESCAPED.search(line):
                        try:
                            decode(own, encoding, str(path), offset, remedy)
                        except InputError as error:
                            faults.add(number, str(error).removeprefix(f"{path}: "))
                yield line.removeprefix("\ufeff") if number == 1 else line
                if faults.open:
                    return
                offset += size
        except UnicodeError as error:
            # The error's offset is relative to the last chunk. Decode the file again to report the offset in the file.
            _decode_whole(path, encoding, remedy)
            raise InputError(f"{path}: expected {encoding}, got {error}; {remedy}") from error


def _skipped(file: io.TextIOWrapper, line: str, largest: int, encoding: str, errors: str) -> tuple[int, int]:
    """Read a line that is too long to its end, given its beginning; return its numbers of quotes and bytes."""
    quotes = size = 0
    while line:
        quotes += line.count('"')
        size += len(line.encode(encoding, errors))
        if len(line) <= largest or line.endswith(("\n", "\r")):
            break
        line = file.readline(largest + 1)
    return quotes, size


def _decode_whole(path: Location, encoding: str, remedy: str) -> None:
    """Raise `InputError` with the offset in a file of the first byte that the encoding does not allow."""
    decoder, offset = codecs.getincrementaldecoder(encoding)(), 0
    with opened(path) as file:
        while chunk := file.read(PAGES):
            begun, _ = decoder.getstate()
            try:
                decoder.decode(chunk)
            except UnicodeError:
                decode(begun + chunk, encoding, str(path), offset - len(begun), remedy)
                raise
            offset += len(chunk)
