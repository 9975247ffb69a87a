"""Find the files that hold documents in folders that discsum made."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from warnings import warn

from discsum.data.manifest import FAILURES, MANIFEST, RECIPE, Manifest
from discsum.data.shard_names import is_part, is_shard
from discsum.data.storage import Location, Stored, is_pattern, is_several, location, parts_of, sizes_in, stored, visible
from discsum.errors import InputError, InputWarning


def has_parts(folder: Location) -> bool:
    """Return whether `discsum parse --shards` or `extract --shards` writes, or wrote, parts into a folder."""
    return any(map(is_part, _names(folder)))


def shard_files(folder: Location) -> list[Location] | None:
    """Return the shards or parts of a folder that discsum made, in document order; None for any other folder.

    Raises:
        InputError: The folder is not finished, or a file is missing.
    """
    # Other folders may have a `manifest.json` of their own.
    names = _names(folder)
    if FAILURES not in names and not any(map(is_shard, names)):
        return None
    files = [shard.file for shard in Manifest.read(folder, None).shards]
    missing = [name for name in files if name not in names]
    if missing:
        raise InputError(f"{folder / missing[0]}: expected this file, which {MANIFEST} lists, found no such file")
    return [folder / name for name in files]


def documents_in(path: Location, endings: Collection[str]) -> list[Stored]:
    """Return the visible files below a folder, or of a pattern, that end in one of `endings`, in order.

    In a folder that discsum made, these are the shards that its manifest lists; with a pattern, only those that match.

    Raises:
        InputError: As for `shard_files`.
    """
    named = tuple(endings)
    seen = {file.path: file for file in visible(path) if file.path.name.lower().endswith(named)}
    made = {place: shards for place in {file.parent for file in seen} if (shards := shard_files(place)) is not None}
    if is_pattern(path) and not path.exists():
        made = {place: [file for file in shards if file in seen] for place, shards in made.items()}
    groups = {file: [file] for file in seen if file.parent not in made} | made
    return [seen.get(file) or stored(file) for place in sorted(groups, key=parts_of) for file in groups[place]]


def warn_of_others(name: str, found: Sequence[Stored], endings: Collection[str]) -> None:
    """Warn about visible files of a folder or pattern that are not documents, given the `found` ones and their endings.

    There is no warning about files that a run of discsum left beside its results.
    """
    path, kinds = location(name), tuple(endings)
    if not is_several(path):
        return
    others = [file.path for file in visible(path) if not file.path.name.lower().endswith(kinds)]
    made = {folder for folder in {file.parent for file in others} if made_by_discsum(folder)}
    left = Counter(other.suffix or "none" for other in others if other.parent not in made)
    if left:
        some = f"{left.total()} of {left.total() + len(found)} files"
        found_endings, expected = ", ".join(sorted(left)), ", ".join(sorted(endings))
        message = f"left out {some}, whose endings ({found_endings}) are not among {expected}"
        warn(f"{name}: {message}", InputWarning, stacklevel=2)


def made_by_discsum(folder: Location) -> bool:
    """Return whether a run of discsum left its recipe or manifest in a folder."""
    return any((folder / name).is_file() for name in (RECIPE, MANIFEST))


def _names(folder: Location) -> Collection[str]:
    """Return the names of the files in a folder that discsum made; empty for any other folder."""
    if not made_by_discsum(folder):
        return ()
    return sizes_in(folder).keys()
