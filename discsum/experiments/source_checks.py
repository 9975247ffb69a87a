"""Checks of a recipe's sources that run before the first is preprocessed, which may take hours."""

from __future__ import annotations

from itertools import islice
from pathlib import Path

from discsum.data.made_folder import is_dataset_folder
from discsum.data.manifest import Manifest
from discsum.data.prepared import pairs_of, path_of
from discsum.data.storage import is_url
from discsum.errors import InputError
from discsum.recipes.sources import Source
from discsum.training.recipe import RunRecipe


def check_sources(recipe: RunRecipe, data: Path) -> None:
    """Check that all sources of a recipe exist, with the rows and columns that the recipe names.

    The rows of a table at a URL are not counted if that would mean reading the whole table.

    Args:
        recipe: The recipe; its `train`, `validation` and `sample` are checked.
        data: Folder that paths of sources are relative to; URLs are used as they are.

    Raises:
        InputError: A source that is missing, is not a table, or lacks columns or rows; or a sample larger than the
            number of training documents.
    """
    counts = []
    for part, sources in (("train", recipe.train), ("validation", recipe.validation)):
        for place, source in enumerate(sources):
            there = _count(source, data, counted=part == "train" and recipe.sample is not None)
            if there is not None and _is_short(source, there):
                last = "the end" if source.last is None else source.last
                raise InputError(
                    f"{part}[{place}]: expected rows {source.first} to {last} of {source.path}, got {there}"
                )
            if part == "train":
                counts.append(None if there is None else len(range(there)[source.first : source.last]))
    check_sample(recipe, None if None in counts else sum(count or 0 for count in counts))


def check_sample(recipe: RunRecipe, there: int | None) -> None:
    """Raise `InputError` if a recipe's sample exceeds the number of training documents; `there` is None if unknown."""
    if recipe.sample is not None and there is not None and recipe.sample > there:
        raise InputError(
            f"sample: expected at most the {there} documents of train, got {recipe.sample}; set sample=null for all"
        )


def _is_short(source: Source, there: int) -> bool:
    return 0 < source.first >= there or (source.last is not None and there < source.last)


def _count(source: Source, data: Path, *, counted: bool) -> int | None:
    """Return the number of rows of a source, or None if it is not needed or not known.

    It is needed if the recipe names rows, or if `counted`. It may be unknown for a table at a URL.
    """
    path = path_of(source, data)
    if is_dataset_folder(path):
        return Manifest.read(path).documents
    rows = pairs_of(source, data)
    # Raises for a table without the columns.
    next(iter(rows.pairs(source.first, source.first + 1)), None)
    if not (counted or source.first or source.last is not None):
        return None
    known = rows.count()
    if known is None and not is_url(source.path):
        # Count records, not lines: CSV records may have line breaks.
        known = sum(1 for _ in islice(rows.rows(), source.last))
    return known
