"""What a dataset folder is made of: `recipe.json` while it is made, `manifest.json` when it is whole."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout

from discsum.errors import InputError
from discsum.files import replacing, sha256
from discsum.recipes.fields import differences

FORMAT = 1
RECIPE, MANIFEST, FAILURES, LOCK = "recipe.json", "manifest.json", "failures.jsonl", ".lock"
# What the names of shards begin with, and what those of their checksums end with.
SHARD, SUM = "shard-", ".sha256"
REMEDY = "delete the folder and make it anew"


@dataclass(frozen=True)
class Shard:
    """One file of a dataset: its name, how many documents it holds and how many failed, its checksum."""

    file: str
    documents: int
    failed: int
    sha256: str


@dataclass(frozen=True)
class Manifest:
    """What a finished dataset folder holds.

    Attributes:
        recipe: Everything that its content depends on.
        shards: Its files, in order.
        width: Size of a unit vector, 0 where units were not encoded.
        format: Version of the layout.
    """

    recipe: dict[str, Any]
    shards: list[Shard]
    width: int = 0
    format: int = FORMAT
    documents: int = field(init=False)
    failed: int = field(init=False)

    def __post_init__(self) -> None:
        """Count."""
        object.__setattr__(self, "documents", sum(shard.documents for shard in self.shards))
        object.__setattr__(self, "failed", sum(shard.failed for shard in self.shards))

    def write(self, folder: Path) -> None:
        """Write it; the folder is whole from then on."""
        with replacing(folder / MANIFEST) as path:
            path.write_text(json.dumps(asdict(self), indent=1) + "\n", encoding="utf-8")
        _tidy(folder)

    @classmethod
    def read(cls, folder: Path) -> Manifest:
        """Return the manifest of a finished folder.

        Raises:
            InputError: A folder that is none, or is not finished.
        """
        path = folder / MANIFEST
        if not path.is_file():
            state = "is not finished: run discsum preprocess again" if (folder / RECIPE).is_file() else "holds none"
            raise InputError(f"{folder}: expected a dataset folder with {MANIFEST}, this one {state}")
        data = _read_object(path)
        try:
            if data["format"] != FORMAT:
                raise InputError(f"{path}: expected format {FORMAT}, got {data['format']}; {REMEDY}")
            return cls(dict(data["recipe"]), [Shard(**shard) for shard in data["shards"]], data["width"])
        except (ValueError, KeyError, TypeError) as error:
            raise InputError(f"{path}: expected a manifest, got {type(error).__name__}: {error}; {REMEDY}") from error

    def check(self, folder: Path) -> None:
        """Check every shard against its checksum.

        Raises:
            InputError: A shard that is missing or altered, with both checksums.
        """
        for shard in self.shards:
            fault = fault_of(folder / shard.file, shard.sha256)
            if fault:
                raise InputError(f"{fault}; {REMEDY}")


def sum_file(shard: Path) -> Path:
    """Return where a shard's checksum is kept until the manifest has it."""
    return shard.with_name(f".{shard.stem}{SUM}")


def fault_of(shard: Path, expected: str) -> str:
    """Return what is wrong with a shard of that checksum; nothing if it is whole."""
    found = f"got {sha256(shard)}" if shard.is_file() else "found no such file"
    return "" if found == f"got {expected}" else f"{shard}: expected a shard with sha256 {expected}, {found}"


def recorded_fault(shard: Path) -> str:
    """Return what is wrong with a shard of an unfinished folder; nothing if it is whole, or not there yet."""
    if not shard.is_file():
        return ""
    expected = sum_file(shard)
    if not expected.is_file():
        return f"{shard}: expected its checksum in {expected.name}, found no such file"
    return fault_of(shard, expected.read_text(encoding="utf-8", errors="replace"))


def begin(folder: Path, recipe: dict[str, Any]) -> bool:
    """Return whether there is anything to do for the recipe in the folder, and claim the folder for it.

    Raises:
        InputError: The folder was made by another recipe; the message names what differs.
    """
    finished = (folder / MANIFEST).is_file()
    if finished:
        _tidy(folder)
    else:
        # What a killed process left half written.
        for path in folder.glob(".*.partial"):
            path.unlink()
    # Options with which nothing was made yet, as mistyped ones, bind nobody.
    begun = (folder / RECIPE).is_file() and any(folder.glob(f"{SHARD}*"))
    if finished or begun:
        there = Manifest.read(folder).recipe if finished else _read_object(folder / RECIPE)
        changed = differences(_flat(there), _flat(recipe))
        if changed:
            raise InputError(f"{folder}: expected a folder made with the same options, found others ({changed})")
    else:
        with replacing(folder / RECIPE) as path:
            path.write_text(json.dumps(recipe, indent=1) + "\n", encoding="utf-8")
    return not finished


def _flat(recipe: dict[str, Any]) -> dict[str, Any]:
    """Return the fields of a recipe, those of its groups by themselves, so that only what differs is named."""
    flat: dict[str, Any] = {}
    for name, value in recipe.items():
        flat |= {f"{name} {part}": own for part, own in value.items()} if isinstance(value, dict) else {name: value}
    return flat


def _read_object(path: Path) -> dict[str, Any]:
    try:
        return dict(json.loads(path.read_text(encoding="utf-8")))
    except (ValueError, TypeError) as error:
        raise InputError(f"{path}: expected a JSON object, got {error}; {REMEDY}") from error


def _tidy(folder: Path) -> None:
    """Remove what a folder has only until it is finished."""
    for path in (folder / RECIPE, *folder.glob(f".{SHARD}*{SUM}")):
        # On a disk that is only read, even what is not there cannot be removed.
        if path.is_file():
            path.unlink(missing_ok=True)


@contextmanager
def alone(folder: Path, *, wait: bool = False) -> Iterator[None]:
    """Hold the folder: no other run may write to it meanwhile. The lock goes with the process, however it ends.

    Args:
        folder: The folder.
        wait: Whether to wait until another run is done with it.

    Raises:
        InputError: Another run holds it, and it was not to be waited for.
    """
    folder.mkdir(parents=True, exist_ok=True)
    try:
        with FileLock(folder / LOCK, timeout=-1 if wait else 0):
            yield
    except Timeout as error:
        raise InputError(f"{folder}: expected no other run to be at work here, found one") from error
