"""Files that fsspec reaches: S3, GCS, HDFS, the Hugging Face hub. Nothing else in discsum talks to fsspec."""

from __future__ import annotations

import errno
import io
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import IO, Any, Literal

from discsum.errors import DiscsumError, NoAnswerError
from discsum.extras import needs

# Drivers that an extra of discsum installs, or one of its dependencies.
_DRIVERS = {"s3": "s3fs", "s3a": "s3fs", "gs": "gcsfs", "gcs": "gcsfs", "hdfs": "pyarrow"}
# Programming errors, ours or a driver's, which are not answers of a store.
_MISTAKES = (TypeError, LookupError, AttributeError, NameError, AssertionError)
# Bytes fetched at once when a file is read sequentially.
BLOCK = 4 << 20
# Bytes of the buffer in which lines are found.
LINES = 1 << 16


@dataclass(frozen=True)
class RemotePath:
    """A file or folder that fsspec reaches, with the methods of `pathlib.Path` that datasets need.

    Attributes:
        url: For example `s3://bucket/folder/file`, without a slash at the end, or `memory://` for a whole store.
    """

    url: str

    def __post_init__(self) -> None:
        """Remove slashes at the end of the URL."""
        scheme, _, rest = self.url.partition("://")
        object.__setattr__(self, "url", f"{scheme}://{rest.rstrip('/')}")

    def __str__(self) -> str:
        """Return the URL."""
        return self.url

    def __truediv__(self, name: str) -> RemotePath:
        """Return the file `name` in this folder."""
        return RemotePath(f"{self.url}/{name}")

    @property
    def scheme(self) -> str:
        """The kind of store, such as `s3`."""
        return self.url.partition("://")[0].lower()

    @property
    def _last(self) -> PurePosixPath:
        # The query of a web URL is not part of the name.
        path = self.url.partition("?")[0] if self.scheme in ("http", "https") else self.url
        return PurePosixPath(path.rpartition("/")[2])

    @property
    def name(self) -> str:
        """The last part of the path."""
        return self._last.name

    @property
    def parent(self) -> RemotePath:
        """The folder that contains it. The parent of a bucket is the whole store, which is its own parent."""
        return RemotePath(self.url.rpartition("/")[0] + "/")

    @property
    def stem(self) -> str:
        """The last part without its suffix."""
        return self._last.stem

    @property
    def suffix(self) -> str:
        """The suffix of the last part, with its dot."""
        return self._last.suffix

    @property
    def suffixes(self) -> list[str]:
        """The suffixes of the last part."""
        return self._last.suffixes

    def with_name(self, name: str) -> RemotePath:
        """Return the file `name` beside this one."""
        return RemotePath(f"{self.url.rpartition('/')[0]}/{name}")

    def absolute(self) -> RemotePath:
        """Return this path: URLs are absolute."""
        return self

    def is_file(self) -> bool:
        """Return whether there is such a file."""
        return info_of(self).get("type") == "file"

    def is_dir(self) -> bool:
        """Return whether there is such a folder; a store has a folder if the name of a file begins with it."""
        return info_of(self).get("type") == "directory"

    def exists(self) -> bool:
        """Return whether there is such a file or folder."""
        return bool(info_of(self))

    def open(self, mode: Literal["rb"] = "rb") -> IO[bytes]:
        """Open the file to read bytes at any position.

        Raises:
            OSError: There is no such file.
            NoAnswerError: The store does not answer, now or while the file is read.
        """
        with reached(self) as (fs, path):
            if "memory" in fs.protocol:
                # All readers of a file in fsspec's memory share one position in it.
                return io.BytesIO(fs.cat_file(path))
            # Files of fsspec cannot limit the length of a line, and are slow at reading lines.
            return io.BufferedReader(_Answers(self, fs.open(path, "rb", block_size=BLOCK)), LINES)


def info_of(path: RemotePath) -> Mapping[str, Any]:
    """Return what the store reports about a file or folder; empty if there is none."""
    with reached(path) as (fs, name):
        try:
            info: Mapping[str, Any] = fs.info(name)
        except FileNotFoundError:
            return {}
    return info


class _Answers(io.RawIOBase):
    """The bytes of an open file in a store; converts errors of its driver like `reached`."""

    def __init__(self, path: RemotePath, file: IO[bytes]) -> None:
        super().__init__()
        self._path, self._file = path, file

    def readable(self) -> bool:
        """Return True."""
        return True

    def seekable(self) -> bool:
        """Return whether the driver can read at any position."""
        return self._file.seekable()

    def readinto(self, buffer: Any) -> int:
        """Read into a buffer; return the number of bytes, 0 at the end."""
        with _answering(self._path):
            if hasattr(self._file, "readinto"):
                count: int = self._file.readinto(buffer)
                return count
            # Files of HDFS before fsspec 2026.9.
            content = self._file.read(len(buffer))
        buffer[: len(content)] = content
        return len(content)

    def readall(self) -> bytes:
        """Return all remaining bytes."""
        with _answering(self._path):
            return self._file.read()

    def seek(self, place: int, whence: int = io.SEEK_SET) -> int:
        """Move to a position; return it."""
        with _answering(self._path):
            return self._file.seek(place, whence)

    def tell(self) -> int:
        """Return the position."""
        return self._file.tell()

    def close(self) -> None:
        """Close the file."""
        if not self.closed:
            self._file.close()
        super().close()


@contextmanager
def reached(path: RemotePath) -> Iterator[tuple[Any, str]]:
    """Yield the file system of a URL and the name in it; turn errors of the driver into `NoAnswerError`.

    `FileExistsError` stays as it is, and `FileNotFoundError` too, but names the file.

    Raises:
        MissingExtraError: The driver is not installed.
        NoAnswerError: No such kind of URL, or a store that does not answer.
    """
    if path.scheme in _DRIVERS:
        with needs(_DRIVERS[path.scheme]):
            __import__(_DRIVERS[path.scheme])
    import fsspec

    try:
        files, name = fsspec.core.url_to_fs(path.url)
    except Exception as error:
        raise _no_answer(path, error) from error
    with _answering(path):
        # Other machines write to the same folder, so cached listings are outdated.
        files.invalidate_cache()
        yield files, name


@contextmanager
def _answering(path: RemotePath) -> Iterator[None]:
    """Turn errors of a driver in the block into `NoAnswerError`; see `reached`."""
    try:
        yield
    except (FileExistsError, DiscsumError, *_MISTAKES):
        raise
    except FileNotFoundError as error:
        said = str(error.strerror or error) or "No such file"
        raise FileNotFoundError(errno.ENOENT, said, str(path)) from error
    except Exception as error:
        raise _no_answer(path, error) from error


def _no_answer(path: RemotePath, error: Exception) -> NoAnswerError:
    said = str(error).strip().partition("\n")[0] or type(error).__name__
    return NoAnswerError(
        f"{path}: expected storage that fsspec can reach, got {type(error).__name__}: {said}; check the address, "
        "its driver and your credentials"
    )
