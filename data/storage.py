"""Files on disks and in object stores: the same functions for both."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from http import HTTPStatus
from pathlib import Path
from typing import Any

from discsum import files
from discsum.batches import map_ahead
from discsum.data.remote import RemotePath, info_of, reached
from discsum.errors import InputError, message_of
from discsum.files import replacing

# At least two letters, because `C:` is a disk.
_URL = re.compile(r"([a-z][a-z0-9+.-]+)://", re.IGNORECASE)
# Fields in which stores report the version of a file's content, the most reliable first.
_VERSIONS = (
    "ETag",
    "etag",
    "md5Hash",
    "blob_id",
    "Content-MD5",
    "Digest",
    "LastModified",
    "Last-Modified",
    "last_modified",
    "updated",
    "mtime",
    "modificationTime",
    "created",
)
# Number of small files of a store that are read whole at the same time.
TOGETHER = 32
# Number of files of which a part is read at the same time, since each file of a store has a latency.
READERS = 8

# How S3 stores answer a request to create a file that exists, or that another request creates at the same time. s3fs
# raises `FileExistsError` only if the answer names the failed condition, as Amazon's does and Ceph's does not.
_REFUSED = (HTTPStatus.PRECONDITION_FAILED, HTTPStatus.CONFLICT)

Location = Path | RemotePath


@dataclass(frozen=True)
class Stored:
    """A file as its disk or store lists it.

    Attributes:
        size: Bytes.
        version: The store's version of the content, such as an ETag; on disks the time of the last change, in
            nanoseconds.
    """

    path: Location
    size: int
    version: str = ""


def is_url(name: str) -> bool:
    """Return whether a name is a URL, not a path on this machine."""
    return _URL.match(name) is not None


def location(name: str | Path | RemotePath) -> Location:
    """Return the path that a user named: a path on this machine, or a URL for fsspec.

    Raises:
        InputError: A chain of URLs (`::`), as fsspec allows, or a file of another machine.
    """
    if not isinstance(name, str):
        return name
    if not is_url(name):
        return Path(name)
    if "::" in name:
        raise InputError(f"{name}: expected one URL, got a chain of them; use the URL of the file in its store")
    if name.lower().startswith("file://"):
        host, slash, path = name[len("file://") :].partition("/")
        if host not in ("", "localhost"):
            raise InputError(f"{name}: expected file:///, then a path on this machine, got the host {host!r}")
        # Imported late: it imports modules of HTTP and encryption.
        from urllib.request import url2pathname

        return Path(url2pathname(slash + path))
    return RemotePath(name)


def read_bytes(path: Location) -> bytes:
    """Return the content of a file.

    Raises:
        OSError: There is no such file.
        InputError: The store does not answer.
    """
    if isinstance(path, Path):
        return path.read_bytes()
    with reached(path) as (fs, name):
        content: bytes = fs.cat_file(name)
        return content


def read_each(paths: Sequence[Location]) -> list[bytes | None]:
    """Return the contents of files that are not empty, None for missing files; read files of a store in parallel."""
    remote = [path for path in paths if isinstance(path, RemotePath)]
    if not remote:
        return [path.read_bytes() if path.is_file() else None for path in paths if isinstance(path, Path)]
    with reached(remote[0]) as (fs, _):
        # With `start`, s3fs does not ask for the size of each file first. File systems that are not asynchronous may be
        # unable to seek, and threads may be unable to share their connections.
        options = {"start": 0} if fs.async_impl else {}

        def read(path: RemotePath) -> bytes | None:
            try:
                content: bytes = fs.cat_file(fs._strip_protocol(path.url), **options)
            except FileNotFoundError:
                return None
            return content

        # Not `cat`, which reads names as patterns.
        return list(map_ahead(read, remote, TOGETHER if fs.async_impl else 0))


def write_bytes(path: Location, content: bytes) -> None:
    """Write a file atomically: on a disk by renaming a temporary file, in a store with one put.

    Raises:
        OSError: It cannot be written.
        InputError: The store does not answer.
    """
    if isinstance(path, Path):
        with replacing(path) as partial:
            partial.write_bytes(content)
        return
    with reached(path) as (fs, name):
        fs.pipe_file(name, content)


def sha256(path: Location) -> str:
    """Return the SHA-256 of a file, in hexadecimal digits; a file of a store is read into memory."""
    return files.sha256(path) if isinstance(path, Path) else hashlib.sha256(read_bytes(path)).hexdigest()


def create_bytes(path: RemotePath, content: bytes) -> bool:
    """Create a file unless it exists; return whether this call created it."""
    with reached(path) as (fs, name):
        try:
            fs.pipe_file(name, content, mode="create")
        except FileExistsError:
            return False
        except OSError as error:
            if _status(error) not in _REFUSED:
                raise
            return False
    return True


def _status(error: OSError) -> int | None:
    """Return the HTTP status of the response with which an S3 store caused an error; None if there is none."""
    response = getattr(error.__cause__, "response", None) or {}
    status: int | None = response.get("ResponseMetadata", {}).get("HTTPStatusCode")
    return status


def make_folder(folder: Location) -> None:
    """Make a folder and its parents; stores need none."""
    if isinstance(folder, Path):
        folder.mkdir(parents=True, exist_ok=True)


def clear_unfinished(folder: Location) -> None:
    """Remove half-written files of killed runs from a folder; stores have none."""
    if isinstance(folder, Path):
        files.clear_unfinished(folder)


def sizes_in(folder: Location) -> dict[str, int]:
    """Return the sizes of the files in a folder by name, without subfolders; lists the folder once."""
    if isinstance(folder, Path):
        sizes = {}
        with os.scandir(folder) as entries:
            for entry in entries:
                # Other runs may rename and remove files meanwhile.
                with suppress(FileNotFoundError):
                    if entry.is_file():
                        sizes[entry.name] = entry.stat().st_size
        return sizes
    with reached(folder) as (fs, name):
        try:
            listed = fs.ls(name, detail=True)
        except FileNotFoundError:
            return {}
    found = {entry["name"].rpartition("/")[2]: entry["size"] for entry in listed if entry["type"] == "file"}
    # Empty objects whose names end in a slash mark folders.
    found.pop("", None)
    return found


def remove(paths: Iterable[Location]) -> None:
    """Remove files; ignore files that do not exist."""
    remote = []
    for path in paths:
        if isinstance(path, RemotePath):
            remote.append(path)
        # On a read-only disk, unlinking fails even for files that do not exist.
        elif path.is_file():
            path.unlink(missing_ok=True)
    _remove_together(remote)


def _remove_together(paths: Sequence[RemotePath]) -> None:
    """Remove files of a store, with few requests if it accepts a list and all files in it exist."""
    if not paths:
        return
    with reached(paths[0]) as (fs, _):
        names = [fs._strip_protocol(path.url) for path in paths]
        # `rm` reads names in a list as patterns.
        if fs.async_impl and len(names) > 1 and not any(map(is_pattern, paths)):
            with suppress(FileNotFoundError):
                fs.rm(names)
                return
        for name in names:
            with suppress(FileNotFoundError):
                fs.rm_file(name)


def stored(path: Location) -> Stored:
    """Return size and version of a file.

    Raises:
        OSError: There is no such file.
        InputError: The store does not answer.
    """
    if isinstance(path, Path):
        found = path.stat()
        return Stored(path, found.st_size, str(found.st_mtime_ns))
    info = info_of(path)
    if info.get("type") != "file":
        raise FileNotFoundError(2, "No such file", str(path))
    return stored_from(path, info)


def is_pattern(path: Location) -> bool:
    """Return whether a path has a part with `*`, `?` or `[`; in a web URL, `?` begins the query and does not count."""
    if isinstance(path, Path):
        return any(re.search(r"[*?[]", part) for part in path.parts)
    if path.scheme in ("http", "https"):
        return re.search(r"[*[]", path.url.partition("?")[0]) is not None
    return re.search(r"[*?[]", path.url) is not None


def check_unchanged(file: Stored) -> None:
    """Raise `InputError` if a file is not the one that a run found at its start."""
    try:
        found = "a changed one" if stored(file.path) != file else ""
    except OSError as error:
        found = message_of(error)
    if found:
        raise InputError(
            f"{file.path}: expected the file of {file.size:,} bytes that the run began with, got {found}; start again "
            "with files that do not change"
        )


def check_all_unchanged(files: Iterable[Stored]) -> None:
    """Raise `InputError` if a local file is not the one that a run found at its start; stores are not asked again."""
    for file in files:
        if isinstance(file.path, Path):
            check_unchanged(file)


def stored_from(path: RemotePath, info: Mapping[str, Any]) -> Stored:
    """Return size and version of a file, given what its store reports; raise `InputError` if that lacks the size."""
    if info["size"] is None:
        raise InputError(f"{path}: expected a file whose server reports its size, got no size; download it first")
    version = next((info[key] for key in _VERSIONS if info.get(key)), "")
    # A store may report times as numbers in some answers and as dates in others.
    seconds = version.timestamp() if isinstance(version, datetime) else version
    return Stored(path, int(info["size"]), str(seconds).strip('"'))
