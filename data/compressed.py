"""Open files that may be compressed: gzip, bzip2, xz, and Zstandard with pyarrow."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO, cast

from discsum.data.storage import Location
from discsum.errors import InputError
from discsum.extras import needs

# Last endings of compressed files.
PACKED = (".gz", ".bz2", ".xz", ".zst")


def is_packed(path: Location) -> bool:
    """Return whether a file has the ending of a compressed one."""
    return path.suffix.lower() in PACKED


@contextmanager
def opened(path: Location) -> Iterator[IO[bytes]]:
    """Yield a file for reading, decompressed as its ending says; the block that uses it should only read.

    Raises:
        InputError: A compressed file that is truncated or damaged.
        MissingExtraError: Zstandard without pyarrow.
    """
    with path.open("rb") as file:
        if not is_packed(path):
            yield file
            return
        packed = path.suffix.lower()
        try:
            with _unpacked(file, packed) as content:
                yield content
        except (EOFError, zlib.error, lzma.LZMAError, OSError) as error:
            # Errors of the operating system have a number.
            if isinstance(error, OSError) and error.errno is not None:
                raise
            raise InputError(
                f"{path}: expected a complete {packed} file, got a truncated or damaged one: {error}"
            ) from error


def _unpacked(file: IO[bytes], packed: str) -> IO[bytes]:
    if packed == ".gz":
        return cast(IO[bytes], gzip.GzipFile(fileobj=file))
    if packed == ".bz2":
        return bz2.BZ2File(file)
    if packed == ".xz":
        return lzma.LZMAFile(file)
    with needs("pyarrow"):
        import pyarrow as pa
    # Arrow's own stream has no `readline`.
    return io.BufferedReader(pa.CompressedInputStream(pa.PythonFile(file, "r"), "zstd"), 1 << 20)
