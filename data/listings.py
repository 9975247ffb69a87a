"""The files of folders and patterns, on disks and in object stores."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterable, Iterator, Sequence
from errno import ELOOP, ENOENT, ENOTDIR
from itertools import takewhile
from pathlib import Path

from discsum.batches import map_ahead
from discsum.data.remote import RemotePath, reached
from discsum.data.storage import READERS, Location, Stored, is_pattern, stored, stored_from
from discsum.errors import warn_caller


def matching(pattern: Location) -> list[Stored]:
    """Return the files in a folder, at any depth, or the matches of a pattern such as `train/*.parquet`, by name."""
    if isinstance(pattern, Path):
        told = set[Path]()
        if pattern.is_dir():
            top, paths = pattern, _below(pattern, told)
        else:
            top = Path(*before_pattern(pattern.parts))
            paths = top.glob("/".join(_portable(pattern.parts[len(top.parts) :])))
        return list(_readable(top, sorted(paths), told))
    with reached(pattern) as (fs, name):
        listed = fs.glob(name, detail=True) if is_pattern(pattern) else fs.find(name, detail=True)
    infos = {path: info for path, info in listed.items() if info["type"] == "file" and not path.endswith("/")}
    found = {_url_of(path, pattern.url, name): info for path, info in infos.items()}
    # Web servers report sizes of files, but not in listings.
    unsized = [url for url, info in found.items() if info["size"] is None]
    sized = dict(zip(unsized, map_ahead(stored, map(RemotePath, unsized), READERS), strict=True))
    return [sized[url] if url in sized else stored_from(RemotePath(url), found[url]) for url in sorted(found)]


def visible(pattern: Location) -> list[Stored]:
    """Return the files of `matching`, without hidden files and files in hidden folders below the named folder."""
    if isinstance(pattern, Path) and pattern.is_dir():
        named = len(pattern.parts)
    else:
        named = len(list(before_pattern(parts_of(pattern))))
    return [file for file in matching(pattern) if not any(part[:1] == "." for part in parts_of(file.path)[named:])]


def is_several(path: Location) -> bool:
    """Return whether a path is a folder, or a pattern that is not itself the name of a file."""
    return path.is_dir() or (is_pattern(path) and not path.exists())


def parts_of(path: Location) -> tuple[str, ...]:
    """Return the parts of a path: the names of the folders that contain a file, outermost first, and its own name."""
    return path.parts if isinstance(path, Path) else tuple(path.url.split("/"))


def before_pattern(parts: Sequence[str]) -> Iterator[str]:
    """Yield the parts of a path before the first that has a wildcard."""
    for part in parts:
        if re.search(r"[*?[]", part):
            return
        yield part


def _portable(parts: Sequence[str]) -> list[str]:
    """Return the parts of a pattern such that `**` means the same in all versions of Python.

    Before Python 3.13, `**` as the last part matches folders only, and is an error inside of a part.
    """
    found = [part if part == "**" else re.sub(r"\*{2,}", "*", part) for part in parts]
    return [*found, "*"] if found[-1:] == ["**"] else found


def _below(folder: Path, told: set[Path]) -> Iterator[Path]:
    """Yield the files below a folder; links to folders are not followed, and folders that cannot be read are named."""

    def warn_of(error: OSError) -> None:
        place = Path(error.filename)
        if place == folder:
            return
        if place.parent != folder and not os.access(place.parent, os.X_OK):
            _warn_of_folder(folder, place.parent, "entered", error, told)
        else:
            _warn_of_folder(folder, place, "read", error, told)

    for place, _, names in os.walk(folder, onerror=warn_of):
        yield from (Path(place, name) for name in names)


def _readable(top: Path, paths: Iterable[Path], told: set[Path]) -> Iterator[Stored]:
    """Yield those paths below `top` that are files; folders that can be listed but not entered are named."""
    for path in paths:
        try:
            found = path.stat()
        except PermissionError as error:
            _warn_of_folder(top, path.parent, "entered", error, told)
        except OSError as error:
            # Links to nothing, or to themselves.
            if error.errno not in (ENOENT, ENOTDIR, ELOOP):
                raise
        else:
            if stat.S_ISREG(found.st_mode):
                yield Stored(path, found.st_size, str(found.st_mtime_ns))


def _warn_of_folder(top: Path, folder: Path, action: str, error: OSError, told: set[Path]) -> None:
    """Warn once that a folder is left out, unless it is hidden below `top`; `told` are the folders named before."""
    if folder not in told and not any(part.startswith(".") for part in folder.relative_to(top).parts):
        message = f"{folder}: expected a folder that can be {action}, got: {error.strerror}; left out"
        warn_caller(message)
    told.add(folder)


def _url_of(path: str, url: str, name: str) -> str:
    """Return the URL of a file at `path` in a file system, given the requested URL and its name in the file system.

    Names have no scheme, and often no host; a URL may also have a user, a port, or an account after its container.
    """
    pairs = zip(reversed(url), reversed(name), strict=False)
    same = len(list(takewhile(lambda pair: pair[0] == pair[1], pairs)))
    before = name[: len(name) - same]
    return url[: len(url) - same] + path[len(before) :]
