"""Files that fsspec reaches: S3, GCS, HDFS, the Hugging Face hub. Nothing else in discsum talks to fsspec."""

from __future__ import annotations

import errno
import io
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import IO, Any, Literal

from discsum.errors import DiscsumError, InputError
from discsum.extras import needs

# Drivers that an extra of discsum installs, or one of its dependencies.
_DRIVERS = {"s3": "s3fs", "s3a": "s3fs", "gs": "gcsfs", "gcs": "gcsfs", "hdfs": "pyarrow"}
# Errors of programs, ours or a driver's; no store answers with them.
_MISTAKES = (TypeError, LookupError, AttributeError, NameError, AssertionError)
# Bytes that are fetched at once where a file is read from one end to the other.
BLOCK = 4 << 20
# Bytes of them in which lines are found.
LINES = 1 << 16


@dataclass(frozen=True)
class RemotePath:
    """A file or folder that fsspec reaches, with the methods of `pathlib.Path` that datasets need.

    Attributes:
        url: As `s3://bucket/folder/file`, without a slash at its end; that of a whole store is `memory://`.
    """

    url: str

    def __post_init__(self) -> None:
        """Take the slash off the end."""
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
        """The kind of store, as `s3`."""
        return self.url.partition("://")[0].lower()

    @property
    def _last(self) -> PurePosixPath:
        # Behind a question mark is what is asked of a web server.
        path = self.url.partition("?")[0] if self.scheme in ("http", "https") else self.url
        return PurePosixPath(path.rpartition("/")[2])

    @property
    def name(self) -> str:
        """The last part."""
        return self._last.name

    @property
    def parent(self) -> RemotePath:
        """The folder that it is in: of a bucket the whole store, which is its own."""
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
        """Return whether there is such a folder: a store has one where a file begins with its name."""
        return info_of(self).get("type") == "directory"

    def exists(self) -> bool:
        """Return whether there is such a file or folder."""
        return bool(info_of(self))

    def open(self, mode: Literal["rb"] = "rb") -> IO[bytes]:
        """Open the file to read bytes at any place.

        Raises:
            OSError: There is none.
            InputError: The store does not answer, also while the file is read.
        """
        with reached(self) as (fs, path):
            if "memory" in fs.protocol:
                # All who open such a file share one position in it.
                return io.BytesIO(fs.cat_file(path))
            # Files of fsspec have no lines of limited length; theirs are also slow.
            return io.BufferedReader(_Answers(self, fs.open(path, "rb", block_size=BLOCK)), LINES)


def info_of(path: RemotePath) -> Mapping[str, Any]:
    """Return what the store says of a file or folder; nothing if there is none."""
    with reached(path) as (fs, name):
        try:
            info: Mapping[str, Any] = fs.info(name)
        except FileNotFoundError:
            return {}
    return info


class _Answers(io.RawIOBase):
    """The bytes of an open file of a store; what its driver raises becomes what `reached` promises."""

    def __init__(self, path: RemotePath, file: IO[bytes]) -> None:
        super().__init__()
        self._path, self._file = path, file

    def readable(self) -> bool:
        """Return that it can be read."""
        return True

    def seekable(self) -> bool:
        """Return whether the driver can read at any place."""
        return self._file.seekable()

    def readinto(self, buffer: Any) -> int:
        """Read into a buffer; return the number of bytes, 0 at the end."""
        with _answering(self._path):
            read: int = self._file.readinto(buffer)  # type: ignore[attr-defined]
        return read

    def readall(self) -> bytes:
        """Return all bytes that are left."""
        with _answering(self._path):
            return self._file.read()

    def seek(self, place: int, whence: int = io.SEEK_SET) -> int:
        """Go to a place; return it."""
        with _answering(self._path):
            return self._file.seek(place, whence)

    def tell(self) -> int:
        """Return the place."""
        return self._file.tell()

    def close(self) -> None:
        """Close the file."""
        if not self.closed:
            self._file.close()
        super().close()


@contextmanager
def reached(path: RemotePath) -> Iterator[tuple[Any, str]]:
    """Yield the file system of a URL and the name in it; what drivers raise becomes an `InputError`.

    Errors of files that are there, or are not, stay what they are, and name the file.

    Raises:
        MissingExtraError: The driver is not installed.
        InputError: No such kind of URL, or a store that does not answer.
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
        # Other machines write to the same folder: a listing is of its moment.
        files.invalidate_cache()
        yield files, name


@contextmanager
def _answering(path: RemotePath) -> Iterator[None]:
    """Raise what a driver raises while a block runs as an `InputError`; see `reached`."""
    try:
        yield
    except (FileExistsError, DiscsumError, *_MISTAKES):
        raise
    except FileNotFoundError as error:
        said = str(error.strerror or error) or "No such file"
        raise FileNotFoundError(errno.ENOENT, said, str(path)) from error
    except Exception as error:
        raise _no_answer(path, error) from error


def _no_answer(path: RemotePath, error: Exception) -> InputError:
    said = str(error).strip().partition("\n")[0] or type(error).__name__
    return InputError(
        f"{path}: expected storage that fsspec reaches, got {type(error).__name__}: {said}; check the address, "
        "its driver and your credentials"
    )
