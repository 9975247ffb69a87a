"""Claim a folder for a recipe, so that shards of other options and files of other programs are never mixed in."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from discsum.data.locks import others_at_work
from discsum.data.manifest import (
    ELSEWHERE,
    FAILURES,
    MANIFEST,
    RECIPE,
    Manifest,
    begun_recipe,
    digest_of,
    tidy,
    write_recipe,
)
from discsum.data.parts import Part
from discsum.data.shard_names import combined_number, is_shard, record_name
from discsum.data.storage import Location, clear_unfinished, sizes_in
from discsum.errors import InputError
from discsum.recipes.fields import both_values, differing

# Hexadecimal digits of a recipe's digest in the name of a part's lock.
DIGITS = 8
# Fields of a recipe that depend on the content of its input alone.
CONTENT = {f"documents {name}" for name in ("sha256", "digest", "files", "bytes", "version", "fingerprint")}
# Beginning of the fields that identify the program and its models.
MADE_BY = "made_by "


def part_lock_name(part: Part, recipe: dict[str, Any]) -> str:
    """Return the name of a part's lock.

    It has the recipe's digest: parts that are started again together with a corrected recipe must not take each other
    for runs of the old one.
    """
    return f"{part.number}-of-{part.count}-{digest_of(recipe)[:DIGITS]}"


def begin(folder: Location, recipe: dict[str, Any], *, in_parts: bool = False) -> bool:
    """Claim the folder for a recipe; return whether anything is left to do.

    Args:
        folder: Folder of a dataset, which this run has locked.
        recipe: Everything that its content depends on.
        in_parts: Whether this run makes a part, while other runs may make other parts.

    Raises:
        InputError: The folder belongs to another recipe, and the message names the differences; or it has files of
            another program.
    """
    finished = (folder / MANIFEST).is_file()
    begun = begun_recipe(folder)
    found = Manifest.read(folder, None).recipe if finished else begun
    if found is None:
        _check_unclaimed(folder)
    if finished:
        # Tidies up after a run that was killed while it did.
        if begun is not None or isinstance(folder, Path):
            tidy(folder, sizes_in(folder))
    else:
        # Clears after a killed run. One of its workers may still be running, so the run's last step clears again.
        clear_unfinished(folder)
    if changed := differing(_flat(found), _flat(recipe)) if found is not None else {}:
        message = _other_input(folder, changed)
        # A recipe without shards, such as one with a mistyped option, may be replaced.
        if finished or any(map(is_shard, sizes_in(folder))):
            raise InputError(message)
        if in_parts and others_at_work(folder, digest_of(recipe)[:DIGITS]):
            raise InputError(f"{message}; runs of other parts are at work there; wait for them, or stop them")
    if not finished and (found is None or changed) and not write_recipe(folder, recipe, new=found is None):
        # Another part has begun the folder since it was looked at.
        return begin(folder, recipe, in_parts=in_parts)
    return not finished


def is_finished(folder: Location) -> bool:
    """Return whether a folder is finished; while there is a recipe, another run may be reopening it, or tidying up."""
    return (folder / MANIFEST).is_file() and not (folder / RECIPE).is_file()


def check_finished(folder: Location, recipe: dict[str, Any]) -> None:
    """Raise `InputError` if a finished folder has another recipe; nothing is changed, so no lock is needed."""
    if changed := differing(_flat(Manifest.read(folder, None).recipe), _flat(recipe)):
        raise InputError(_other_input(folder, changed))


def _other_input(folder: Location, changed: Mapping[str, tuple[Any, Any]]) -> str:
    """Return the error about a folder that was made from another input or with other options."""
    values = both_values(changed)
    if changed.keys() <= CONTENT:
        return (
            f"{folder}: expected the input that it was made from, found a changed or another one ({values}); repeat "
            f"the earlier command with that input, or {ELSEWHERE}"
        )
    if all(name.startswith(MADE_BY) for name in changed):
        # The command may be the earlier one, so repeating it would not help.
        return (
            f"{folder}: expected a folder made by this version of discsum with these models, found others ({values}); "
            f"use those, or {ELSEWHERE}"
        )
    return (
        f"{folder}: expected a folder made from this input with these options, found different ones ({values}); "
        f"repeat the earlier command, or {ELSEWHERE}"
    )


def _check_unclaimed(folder: Location) -> None:
    """Raise `InputError` if a folder without a recipe has a file that a run would overwrite."""
    names = sizes_in(folder)
    shards = [name for name in names if is_shard(name)]
    # Shards that discsum made have records until their folder is finished.
    combined = any(combined_number(name) >= 0 for name in names)
    alone = [name for name in shards if not combined and record_name(name) not in names]
    if FAILURES in names and not shards:
        alone = [FAILURES]
    if alone:
        raise InputError(
            f"{folder / min(alone)}: expected no file of this name in a new folder, found one, which discsum would "
            f"overwrite; {ELSEWHERE}"
        )


def _flat(recipe: dict[str, Any]) -> dict[str, Any]:
    """Return a recipe's fields with groups flattened, so that errors name only the fields that differ."""
    flat: dict[str, Any] = {}
    for name, value in recipe.items():
        flat |= {f"{name} {key}": part for key, part in value.items()} if isinstance(value, dict) else {name: value}
    return flat
