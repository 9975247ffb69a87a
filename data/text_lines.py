"""Lines of a file of bytes: bounded in size, and decoded one by one."""

from __future__ import annotations

from collections.abc import Iterator
from typing import IO

from discsum.data.encodings import CONVERT, decode
from discsum.data.failures import RAISE, Failure
from discsum.errors import InputError


def decoded(
    file: IO[bytes], name: str, encoding: str, largest: int, offset: int = 0, remedy: str = CONVERT
) -> Iterator[tuple[int, str | Failure]]:
    """Yield the decoded lines of a file from its current position, each with its offset and without its line end.

    Args:
        file: The file.
        name: Its name for errors.
        encoding: Name of an encoding whose line ends are the ASCII newline byte.
        largest: Maximum bytes of a line. A longer line becomes a `Failure`, and so does one that cannot be decoded.
        offset: Current position of the file.
        remedy: Advice to the user in errors about the encoding.
    """
    for begin, line in bounded(file, largest, offset):
        if len(line) > largest:
            yield begin, Failure(name, f"expected a line of at most {largest:,} bytes, got more; {RAISE}")
            continue
        try:
            yield begin, decode(line, encoding, name, begin, remedy).removesuffix("\n")
        except InputError as error:
            yield begin, Failure(name, str(error).removeprefix(f"{name}: "))


def bounded(file: IO[bytes], largest: int, offset: int = 0) -> Iterator[tuple[int, bytes]]:
    """Yield each line of a file with its offset; cut a line longer than `largest` to `largest + 1` bytes."""
    while line := file.readline(largest + 1):
        begin, offset = offset, offset + len(line)
        rest = line
        while len(rest) > largest and not rest.endswith(b"\n"):
            rest = file.readline(largest + 1)
            offset += len(rest)
        yield begin, line
