"""Files on disks and in object stores. This module is the only one that talks to fsspec."""

from __future__ import annotations

import hashlib
import io
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path, PurePosixPath
from typing import IO, Any, Literal
from urllib.parse import unquote, urlsplit

from discsum import files
from discsum.errors import DiscsumError, InputError
from discsum.extras import needs
from discsum.files import replacing

# Two letters at least: `C:` is a disk.
_URL = re.compile(r"([a-z][a-z0-9+.-]+)://", re.IGNORECASE)
# Drivers that an extra of discsum installs, or one of its dependencies.
_DRIVERS = {"s3": "s3fs", "s3a": "s3fs", "gs": "gcsfs", "gcs": "gcsfs", "hdfs": "pyarrow"}
# Bytes that are fetched at once where a file is read from one end to the other.
BLOCK = 4 << 20
# Bytes of them in which lines are found.
LINES = 1 << 16
# What stores call the version of a file's content, the surest first.
_VERSIONS = ("ETag", "etag", "md5Hash", "blob_id", "LastModified", "last_modified", "updated", "mtime", "created")


@dataclass(frozen=True)
class RemotePath:
    """A file or folder that fsspec reaches, with the methods of `pathlib.Path` that datasets need.

    Attributes:
        url: As `s3://bucket/folder/file`, without a slash at its end.
    """

    url: str

    def __post_init__(self) -> None:
        """Take the slash off the end."""
        object.__setattr__(self, "url", self.url.rstrip("/"))

    def __str__(self) -> str:
        """Return the URL."""
        return self.url

    def __truediv__(self, name: str) -> RemotePath:
        """Return the file `name` in this folder."""
        return RemotePath(f"{self.url}/{name}")

    @property
    def _last(self) -> PurePosixPath:
        return PurePosixPath(self.url.rpartition("/")[2])

    @property
    def name(self) -> str:
        """The last part."""
        return self._last.name

    @property
    def parent(self) -> RemotePath:
        """The folder that it is in."""
        return RemotePath(self.url.rpartition("/")[0])

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
        return _info(self).get("type") == "file"

    def is_dir(self) -> bool:
        """Return whether there is such a folder: a store has one where a file begins with its name."""
        return _info(self).get("type") == "directory"

    def exists(self) -> bool:
        """Return whether there is such a file or folder."""
        return bool(_info(self))

    def open(self, mode: Literal["rb"] = "rb") -> IO[bytes]:
        """Open the file to read bytes at any place.

        Raises:
            OSError: There is none.
            InputError: The store does not answer.
        """
        with _reached(self) as (fs, path):
            if "memory" in fs.protocol:
                # All who open such a file share one position in it.
                return io.BytesIO(fs.cat_file(path))
            # Files of fsspec have no lines of limited length; theirs are also slow.
            return io.BufferedReader(fs.open(path, "rb", block_size=BLOCK), LINES)


Location = Path | RemotePath


@dataclass(frozen=True)
class Stored:
    """A file as its disk or store lists it.

    Attributes:
        size: Bytes.
        version: What the store says of the content, as an ETag; on disks when it was changed, in nanoseconds.
    """

    path: Location
    size: int
    version: str = ""


def is_url(name: str) -> bool:
    """Return whether a name is a URL, not a path of this machine."""
    return _URL.match(name) is not None


def location(name: str | Path | RemotePath) -> Location:
    """Return the path that a user named: a path of this machine, or a URL that fsspec knows.

    Raises:
        InputError: Two URLs in one, as fsspec chains them.
    """
    if not isinstance(name, str):
        return name
    if not is_url(name):
        return Path(name)
    if "::" in name:
        raise InputError(f"{name}: expected one URL, got a chain of them; name the file as its store does")
    if name.lower().startswith("file://"):
        return Path(unquote(urlsplit(name).path))
    return RemotePath(name)


def read_bytes(path: Location) -> bytes:
    """Return the content of a file.

    Raises:
        OSError: There is none.
        InputError: The store does not answer.
    """
    if isinstance(path, Path):
        return path.read_bytes()
    with _reached(path) as (fs, name):
        content: bytes = fs.cat_file(name)
        return content


def read_each(paths: Sequence[Location]) -> list[bytes | None]:
    """Return the contents of files, which are not empty, or none where there is none; of a store, many at a time."""
    remote = [path for path in paths if isinstance(path, RemotePath)]
    if not remote:
        return [path.read_bytes() if path.is_file() else None for path in paths if isinstance(path, Path)]
    with _reached(remote[0]) as (fs, _):
        names = [fs._strip_protocol(path.url) for path in remote]
        # From a first byte on: for whole files s3fs asks for their sizes first.
        found = fs.cat(names, on_error="return", start=0)
        for one in found.values():
            if isinstance(one, Exception) and not isinstance(one, FileNotFoundError):
                raise one
        return [found[name] if isinstance(found[name], bytes) else None for name in names]


def write_bytes(path: Location, content: bytes) -> None:
    """Write a file as a whole: on a disk beside its place and renamed into it, in a store with one put.

    Raises:
        OSError: It cannot be written.
        InputError: The store does not answer.
    """
    if isinstance(path, Path):
        with replacing(path) as partial:
            partial.write_bytes(content)
        return
    with _reached(path) as (fs, name):
        fs.pipe_file(name, content)


def sha256(path: Location) -> str:
    """Return the SHA-256 of a file, in hexadecimal digits; one of a store is read into memory."""
    return files.sha256(path) if isinstance(path, Path) else hashlib.sha256(read_bytes(path)).hexdigest()


def create_bytes(path: RemotePath, content: bytes) -> bool:
    """Write a file where there is none; return whether this call did it."""
    with _reached(path) as (fs, name):
        try:
            fs.pipe_file(name, content, mode="create")
        except FileExistsError:
            return False
    return True


def make_folder(folder: Location) -> None:
    """Make a folder and those that it is in; stores need none."""
    if isinstance(folder, Path):
        folder.mkdir(parents=True, exist_ok=True)


def clear_unfinished(folder: Location) -> None:
    """Remove what runs that were killed left half-written in a folder; in a store nothing is."""
    if isinstance(folder, Path):
        files.clear_unfinished(folder)


def sizes_in(folder: Location) -> dict[str, int]:
    """Return the sizes of the files of a folder by their names, without those of folders in it; listed once."""
    if isinstance(folder, Path):
        with os.scandir(folder) as entries:
            return {entry.name: entry.stat().st_size for entry in entries if entry.is_file()}
    with _reached(folder) as (fs, name):
        try:
            listed = fs.ls(name, detail=True)
        except FileNotFoundError:
            return {}
    return {entry["name"].rpartition("/")[2]: entry["size"] for entry in listed if entry["type"] == "file"}


def remove(paths: Iterable[Location]) -> None:
    """Remove files; those that are not there are left out."""
    remote = []
    for path in paths:
        if isinstance(path, RemotePath):
            remote.append(path)
        # On a read-only disk, unlinking fails even for files that do not exist.
        elif path.is_file():
            path.unlink(missing_ok=True)
    if remote:
        with _reached(remote[0]) as (fs, _):
            try:
                fs.rm([fs._strip_protocol(path.url) for path in remote])
            except FileNotFoundError:
                # Somebody else was quicker; one by one, so that the others go too.
                for path in remote:
                    if len(remote) > 1:
                        remove([path])


def stored(path: Location) -> Stored:
    """Return size and version of a file.

    Raises:
        OSError: There is none.
        InputError: The store does not answer.
    """
    if isinstance(path, Path):
        found = path.stat()
        return Stored(path, found.st_size, str(found.st_mtime_ns))
    info = _info(path)
    if info.get("type") != "file":
        raise FileNotFoundError(2, "No such file", str(path))
    return _stored(path, info)


def matching(pattern: Location) -> list[Stored]:
    """Return the files in a folder, at any depth, or those of a pattern such as `train/*.parquet`, by name."""
    if isinstance(pattern, Path):
        if pattern.is_dir():
            paths = pattern.rglob("*")
        else:
            fixed = Path(*_before_pattern(pattern.parts))
            paths = fixed.glob("/".join(pattern.parts[len(fixed.parts) :]))
        return [stored(path) for path in sorted(paths) if path.is_file()]
    with _reached(pattern) as (fs, name):
        listed = fs.glob(name, detail=True) if is_pattern(pattern) else fs.find(name, detail=True)
        found = {RemotePath(fs.unstrip_protocol(path)): info for path, info in listed.items()}
    return [_stored(path, found[path]) for path in sorted(found, key=str) if found[path]["type"] == "file"]


def is_pattern(path: Location) -> bool:
    """Return whether a path has a part with `*`, `?` or `[`."""
    parts = path.parts if isinstance(path, Path) else [path.url]
    return any(re.search(r"[*?[]", part) for part in parts)


def is_several(path: Location) -> bool:
    """Return whether a path is a folder, or a pattern that no file is named like."""
    return path.is_dir() or (is_pattern(path) and not path.exists())


def _before_pattern(parts: Sequence[str]) -> Iterator[str]:
    for part in parts:
        if re.search(r"[*?[]", part):
            return
        yield part


def _stored(path: RemotePath, info: Mapping[str, Any]) -> Stored:
    version = next((info[key] for key in _VERSIONS if info.get(key)), "")
    # Times are numbers in some answers of a store and dates in others.
    seconds = version.timestamp() if isinstance(version, datetime) else version
    return Stored(path, int(info["size"]), str(seconds).strip('"'))


def _info(path: RemotePath) -> Mapping[str, Any]:
    """Return what the store says of a file or folder; nothing if there is none."""
    with _reached(path) as (fs, name):
        try:
            info: Mapping[str, Any] = fs.info(name)
        except FileNotFoundError:
            return {}
    return info


@contextmanager
def _reached(path: RemotePath) -> Iterator[tuple[Any, str]]:
    """Yield the file system of a URL and the name in it; what drivers raise becomes an `InputError`.

    Errors of the operating system, such as of files that are not there, stay what they are.

    Raises:
        MissingExtraError: The driver is not installed.
        InputError: No such kind of URL, or a store that does not answer.
    """
    scheme = path.url.partition("://")[0].lower()
    if scheme in _DRIVERS:
        with needs(_DRIVERS[scheme]):
            __import__(_DRIVERS[scheme])
    import fsspec

    try:
        # Other machines write to the same folder: a listing is of its moment.
        yield fsspec.core.url_to_fs(path.url, use_listings_cache=False)
    except (OSError, DiscsumError):
        raise
    except Exception as error:
        said = str(error).strip().partition("\n")[0] or type(error).__name__
        raise InputError(
            f"{path}: expected storage that fsspec reaches, got {type(error).__name__}: {said}; check the address, "
            "its driver and your credentials"
        ) from error
