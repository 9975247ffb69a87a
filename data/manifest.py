"""Files of a folder of shards: `recipe.json` while it is being written, `manifest.json` when it is complete.

Shards of `discsum preprocess` are a dataset; commands with `--shards` write parts, whose recipes name the command.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from discsum.batches import map_ahead
from discsum.data.failures import Failure
from discsum.data.remote import RemotePath
from discsum.data.shard_names import SHARD, is_record, is_shard
from discsum.data.storage import (
    Location,
    clear_unfinished,
    create_bytes,
    remove,
    sha256,
    sizes_in,
    write_bytes,
)
from discsum.errors import DamagedError, InputError
from discsum.json_objects import checked_fields, read_object
from discsum.recipes.fields import Checked, Count, Natural

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

FORMAT = 1
RECIPE, MANIFEST, FAILURES = "recipe.json", "manifest.json", "failures.jsonl"
# Maximum bytes of a manifest; the manifest of ten million shards is smaller.
LARGEST_MANIFEST = 2 << 30
# Number of shards hashed in parallel, which is faster on a disk and in a store.
HASHED = 4
# Recipe field that names the command, and the command whose recipes lack it.
COMMAND, PREPROCESS = "command", "preprocess"
# Fields that tell our `recipe.json` and `manifest.json` from those of other programs.
MARKS = {RECIPE: {"documents", "made_by"}, MANIFEST: {"recipe", "shards"}}
# Advice if a folder belongs to another program.
ELSEWHERE = "choose another folder"


class ForeignError(InputError):
    """A `recipe.json` or `manifest.json` of another program, or one that nobody can read and without shards."""


@dataclass(frozen=True)
class Shard(Checked):
    """One file of a folder.

    Attributes:
        file: Its name.
        documents: Number of its documents.
        failed: Number of documents that failed.
        sha256: Its checksum.
        entries: Digest of its documents, that of `records.Origin`.
        given_trees: Number of its documents that came with their own tree.
    """

    file: str
    documents: Natural
    failed: Natural
    sha256: str
    entries: str
    given_trees: Natural = 0

    def problems(self) -> list[str]:
        """Return a problem if the file is not in the dataset's folder."""
        if is_shard(self.file):
            return []
        return [f"file: expected the name of a file in the dataset's folder, got {self.file!r}"]


@dataclass(frozen=True)
class _MadeBy(Checked):
    """What made a dataset: versions and fingerprints."""

    discsum: str
    parser: str
    encoder: str = ""
    revision: str = ""
    oracle: str = ""


@dataclass(frozen=True)
class _Recipe(Checked):
    """Fields of a dataset's recipe, as in `PreprocessRecipe`, but with oracles that are not registered here."""

    parser: str
    oracle: str
    oracle_units: Count | None
    units: tuple[str, ...]
    encoder: str
    shard: Count
    documents: dict[str, Any]
    made_by: _MadeBy
    tree: bool
    shard_unit: str
    precision: str
    batch_size: Count


@dataclass(frozen=True)
class _Dataset(Checked):
    """Content of `manifest.json` that only datasets have: a recipe with the fields of `_Recipe`."""

    recipe: _Recipe


@dataclass(frozen=True)
class _Written(Checked):
    """Content of `manifest.json`."""

    recipe: dict[str, Any]
    shards: list[Shard]
    width: Natural
    format: int
    documents: Natural
    failed: Natural


@dataclass(frozen=True)
class Manifest:
    """Content of a finished folder.

    Attributes:
        recipe: Everything that the content depends on.
        width: Size of a unit vector; 0 if units were not encoded.
        format: Version of the layout.
    """

    recipe: dict[str, Any]
    shards: list[Shard]
    width: int = 0
    format: int = FORMAT
    documents: int = field(init=False)
    failed: int = field(init=False)

    def __post_init__(self) -> None:
        """Count documents and failures."""
        object.__setattr__(self, "documents", sum(shard.documents for shard in self.shards))
        object.__setattr__(self, "failed", sum(shard.failed for shard in self.shards))

    @property
    def given_trees(self) -> int:
        """Number of documents that came with their own tree."""
        return sum(shard.given_trees for shard in self.shards)

    def vectors(self, row: Mapping[str, Any], unit: str) -> NDArray[np.float16]:
        """Return the vectors `(units, width)` of a document's units, given its row of a shard."""
        # Imported late: completion in shells does not need it.
        import numpy as np

        return np.frombuffer(row[f"{unit}_vectors"], dtype=np.float16).reshape(-1, self.width)

    def nonempty_shards(self, folder: Location) -> list[Shard]:
        """Return the shards that have documents.

        Raises:
            InputError: There are none; the message names the folder.
        """
        found = [shard for shard in self.shards if shard.documents]
        if not found:
            raise InputError(f"{folder}: expected a dataset folder with documents, got none: {self.failed} failed")
        return found

    def write(self, folder: Location, records: Iterable[str]) -> None:
        """Write the manifest, which marks the folder as complete, and remove the records.

        `records` are the names of the files with records, as far as this run knows.
        """
        write_bytes(folder / MANIFEST, (json.dumps(asdict(self), indent=1) + "\n").encode())
        # A large folder in a store is not listed again.
        tidy(folder, sizes_in(folder) if isinstance(folder, Path) else records)

    @classmethod
    def read(cls, folder: Location, command: str | None = PREPROCESS) -> Manifest:
        """Return the manifest of a finished folder.

        Args:
            folder: A dataset, or parts.
            command: The command that made it; None allows any command.

        Raises:
            InputError: Not such a folder, or an unfinished one.
        """
        path, kind = folder / MANIFEST, "dataset folder" if command == PREPROCESS else "folder"
        if not path.is_file():
            begun = begun_recipe(folder)
            state = "has none" if begun is None else f"is not finished: run discsum {_command(begun)} again"
            raise InputError(f"{folder}: expected a {kind} with {MANIFEST}, this one {state}")
        data = _own_object(path)
        with _with_remedy(path, data["recipe"]):
            if data.get("format") != FORMAT:
                raise InputError(f"{path}: expected format {FORMAT}, got {data.get('format')!r}")
            written = checked_fields(_Written, data, path, InputError)
            found = _command(written.recipe)
            if found == PREPROCESS:
                checked_fields(_Dataset, {"recipe": data["recipe"]}, path, InputError)
        if command not in (None, found):
            raise InputError(f"{folder}: expected a {kind} made by discsum {command}, got one made by discsum {found}")
        # The recipe as it was written, without defaults for fields that it lacks.
        return cls(data["recipe"], written.shards, written.width)


def remedy_of(recipe: Any) -> str:
    """Return the advice for a damaged folder, given the recipe that it was made with."""
    return f"delete the folder and {_command(recipe)} again"


def repair_of(recipe: Any) -> str:
    """Return the advice for damaged files in a folder, given the recipe that it was made with."""
    return f"run discsum {_command(recipe)} for the whole folder with --verify, which makes damaged files again"


def faults_of(manifest: Manifest, folder: Location) -> Iterator[tuple[Shard, str]]:
    """Yield the shards of a finished folder that are missing or altered, in order, with what is wrong."""
    faults = map_ahead(lambda shard: fault_of(folder / shard.file, shard.sha256), manifest.shards, HASHED)
    yield from ((shard, fault) for shard, fault in zip(manifest.shards, faults, strict=True) if fault)


def check_sums(manifest: Manifest, folder: Location) -> None:
    """Raise `DamagedError` if a shard of a finished folder is missing or altered; it names the shard and a remedy."""
    for _, fault in faults_of(manifest, folder):
        raise DamagedError(f"{fault}; {repair_of(manifest.recipe)}")


def fault_of(shard: Location, expected: str) -> str:
    """Return what is wrong with a shard, given its expected checksum; empty if it is intact."""
    found = f"got {sha256(shard)}" if shard.is_file() else "found no such file"
    return "" if found == f"got {expected}" else f"{shard}: expected a shard with sha256 {expected}, {found}"


def failures_told(folder: Location, failed: int, noun: str) -> str:
    """Return what is said of the documents of a finished folder that failed: number, list, and the first reason."""
    path = folder / FAILURES
    try:
        with path.open("rb") as lines:
            first = f"; the first: {Failure(**json.loads(lines.readline()))}"
    except (OSError, ValueError, TypeError):
        # The list is damaged, but not the documents.
        first = ""
    return f"{failed} {noun}, see {path}{first}"


def digest_of(recipe: dict[str, Any]) -> str:
    """Return the digest of a recipe, which its shards carry."""
    return hashlib.sha256(json.dumps(recipe, sort_keys=True).encode()).hexdigest()


def made_by_discsum(folder: Location) -> bool:
    """Return whether a folder has the recipe or the manifest of a run of discsum, readable or not."""
    return any(_is_own(folder / name) for name in (RECIPE, MANIFEST))


def _is_own(path: Location) -> bool:
    try:
        return path.is_file() and bool(_own_object(path))
    except ForeignError:
        return False
    except InputError:
        # Damaged; whoever reads the folder gets the error.
        return True


def write_recipe(folder: Location, recipe: dict[str, Any], *, new: bool = False) -> bool:
    """Write `recipe.json`, which marks a folder as begun and unfinished; return whether this call wrote it.

    With `new`, an existing one in a store is kept: runs of parts may begin at the same moment there. On a disk they
    begin one after another.
    """
    path, content = folder / RECIPE, (json.dumps(recipe, indent=1) + "\n").encode()
    if new and isinstance(path, RemotePath):
        return create_bytes(path, content)
    write_bytes(path, content)
    return True


def _command(recipe: Any) -> str:
    return str(recipe.get(COMMAND, PREPROCESS)) if isinstance(recipe, dict) else PREPROCESS


def begun_recipe(folder: Location) -> dict[str, Any] | None:
    """Return the recipe that a folder was begun with; None if there is none."""
    return _own_object(folder / RECIPE) if (folder / RECIPE).is_file() else None


def _own_object(path: Location) -> dict[str, Any]:
    """Return the object in `recipe.json` or `manifest.json`.

    Raises:
        ForeignError: Another program wrote it.
        InputError: It cannot be read, but there are shards beside it.
    """
    folder = path.parent
    try:
        data = read_object(path, InputError, LARGEST_MANIFEST)
    except InputError as error:
        names = [name for name in sizes_in(folder) if is_shard(name) or name == FAILURES]
        if not names:
            raise ForeignError(f"{error}; {ELSEWHERE}") from error
        if isinstance(error.__cause__, OSError):
            # A missing permission or a disk that fails: the folder may be intact.
            raise
        # The shards of `preprocess` have names of their own. For others, only the unreadable file names the command.
        again = "preprocess again" if any(name.startswith(SHARD) for name in names) else "run its command again"
        raise InputError(f"{error}; delete the folder and {again}") from error
    missing = sorted(MARKS[path.name] - data.keys())
    if missing:
        raise ForeignError(
            f"{path}: expected a file written by discsum, got one without {' and '.join(missing)}; {ELSEWHERE}"
        )
    return data


@contextmanager
def _with_remedy(path: Location, recipe: Any) -> Iterator[None]:
    """Append `remedy_of` the recipe to an `InputError` about a file, and the version if another one made the folder."""
    try:
        yield
    except InputError as error:
        made, own = _version_in(recipe), version("discsum")
        other = f"discsum {made} made the folder, this is {own}: use that version, or " if made not in ("", own) else ""
        # One problem is enough: a folder of another version may have the same in every shard.
        problem = str(error).removeprefix(f"{path}: ").partition("; ")[0]
        raise InputError(f"{path}: {problem}; {other}{remedy_of(recipe)}") from error


def _version_in(recipe: Any) -> str:
    """Return the version of discsum in a recipe, which may have any content; empty if there is none."""
    made_by = recipe.get("made_by") if isinstance(recipe, dict) else None
    return str(made_by.get("discsum", "")) if isinstance(made_by, dict) else ""


def tidy(folder: Location, names: Iterable[str]) -> None:
    """Remove files that only unfinished folders have, and what workers left that outlived their killed run."""
    clear_unfinished(folder)
    remove(folder / name for name in names if is_record(name))
    # The recipe goes last, so that a folder without one has been tidied up.
    remove([folder / RECIPE])
