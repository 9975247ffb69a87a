"""Find the files that hold documents in folders that discsum made."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path

from discsum.data.compressed import PACKED, is_packed
from discsum.data.listings import parts_of, visible
from discsum.data.manifest import FAILURES, MANIFEST, RECIPE, ForeignError, Manifest, made_by_discsum
from discsum.data.shard_names import is_part
from discsum.data.storage import Location, Stored, is_pattern, sizes_in, stored
from discsum.errors import InputError, few, warn_caller

NO_DOCUMENTS = "expected a folder with documents, got that of a run without any"


def has_parts(folder: Location) -> bool:
    """Return whether a command with `--shards` writes, or wrote, parts into a folder."""
    # The recipe or manifest, which may be large, is read last.
    return _may_be_made(folder) and any(map(is_part, sizes_in(folder))) and made_by_discsum(folder)


def is_dataset_folder(folder: Location) -> bool:
    """Return whether `discsum preprocess` made a folder, finished or not."""
    return made_by_discsum(folder) and not has_parts(folder)


def shard_files(folder: Location) -> list[Location] | None:
    """Return the shards or parts of a folder that discsum made, in document order; None for any other folder.

    Raises:
        InputError: The folder is not finished, or a file is missing.
    """
    if not _may_be_made(folder):
        return None
    try:
        manifest = Manifest.read(folder, None)
    except ForeignError:
        return None
    names, files = sizes_in(folder), [shard.file for shard in manifest.shards]
    missing = [name for name in files if name not in names]
    if missing:
        raise InputError(f"{folder / missing[0]}: expected this file, which {MANIFEST} lists, found no such file")
    return [folder / name for name in files]


def is_empty(folder: Location) -> bool:
    """Return whether a folder is of a finished run that had no documents."""
    return not is_pattern(folder) and shard_files(folder) == []


def _may_be_made(folder: Location) -> bool:
    """Return whether a folder has files with the names of a recipe or manifest, of discsum or another program."""
    return any((folder / name).is_file() for name in (RECIPE, MANIFEST))


def documents_in(path: Location, endings: Collection[str], *, told: bool = False) -> list[Stored]:
    """Return the visible files below a folder, or of a pattern, that end in one of `endings`, in order.

    In a folder that discsum made, these are the shards that its manifest lists; with a pattern, only those that match.
    Links to folders are not followed.

    Args:
        path: The folder or pattern.
        endings: Endings of the files of documents.
        told: Whether to warn about what is left out, except for files of discsum's own runs.

    Raises:
        InputError: As for `shard_files`.
    """
    named, files = tuple(endings), visible(path)
    seen = {file.path: file for file in files if file.path.name.lower().endswith(named)}
    made = {place: shards for place in {file.parent for file in seen} if (shards := shard_files(place)) is not None}
    # Without documents, callers raise an error.
    if told and seen:
        others = [file.path for file in files if file.path not in seen and file.path.parent not in made]
        _warn_of(path, others, len(files), endings)
        _warn_of_unlisted(seen, made)
    if is_pattern(path) and not path.exists():
        made = {place: [file for file in shards if file in seen] for place, shards in made.items()}
    groups = {file: [file] for file in seen if file.parent not in made} | made
    return [seen.get(file) or stored(file) for place in sorted(groups, key=parts_of) for file in groups[place]]


def list_endings(endings: Iterable[str]) -> str:
    """Return endings of files for a message, without those of compressed ones, such as `.csv.gz`."""
    return ", ".join(sorted(ending for ending in endings if not ending.endswith(PACKED)))


def _warn_of(path: Location, others: Sequence[Location], count: int, endings: Collection[str]) -> None:
    """Warn about files that are not documents, and about links to folders."""
    made = {folder for folder in {file.parent for file in others} if made_by_discsum(folder)}
    # Of compressed files, the ending before that too: `.txt.gz`.
    left = Counter(
        "".join(file.suffixes[-2:] if is_packed(file) else file.suffixes[-1:]) or "none"
        for file in others
        if file.parent not in made
    )
    if left:
        found = ", ".join(sorted(left))
        message = (
            f"left out {left.total()} of {count} files, whose endings ({found}) are not among {list_endings(endings)}"
        )
        warn_caller(f"{path}: {message}")
    links = _links(path) if isinstance(path, Path) and path.is_dir() else []
    for what, linked, remedy in (
        ("folders", [link for link in links if link.is_dir()], "name the folders as inputs themselves"),
        ("nothing", [link for link in links if not link.exists()], "their files are missing"),
    ):
        if linked:
            warn_caller(f"{path}: left out links to {what} ({few(linked, 1)}); {remedy}")


def _warn_of_unlisted(seen: Collection[Location], made: Mapping[Location, Sequence[Location]]) -> None:
    """Warn about documents that a manifest beside them does not list."""
    for place, shards in made.items():
        own = {*shards, *(place / name for name in (RECIPE, MANIFEST, FAILURES))}
        if others := sorted(file.name for file in seen if file.parent == place and file not in own):
            message = f"left out {few(others, 1)}, because only the files that {MANIFEST} lists are read"
            warn_caller(f"{place}: {message}")


def _links(folder: Path) -> list[Path]:
    """Return the visible links to folders, and those to nothing, below a folder, sorted."""
    found = []
    for place, folders, files in os.walk(folder):
        folders[:] = [name for name in folders if not name.startswith(".")]
        paths = [Path(place, name) for name in (*folders, *files) if not name.startswith(".")]
        found += [path for path in paths if path.is_symlink() and not path.is_file()]
    return sorted(found)
