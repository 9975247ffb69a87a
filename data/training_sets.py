"""What a summarizer's recipe learns from: dataset folders, and tables that become such folders beside the run."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path

from discsum.choices import UNITS
from discsum.data.dataset import MEMORY, UnitExamples
from discsum.data.manifest import MANIFEST, RECIPE
from discsum.data.preprocess import PreprocessRecipe, makers, preprocess
from discsum.data.summaries import read_pairs
from discsum.errors import InputError
from discsum.files import sha256
from discsum.recipes.fields import differences
from discsum.recipes.sources import Source
from discsum.training.examples import Collection
from discsum.training.recipe import SummarizerRecipe

Report = Callable[[str], None]


def collection(
    sources: Sequence[Source], data: Path, recipe: SummarizerRecipe, cache: Path, report: Report, workers: int = 1
) -> Collection:
    """Return the examples of a recipe's sources.

    Args:
        sources: Dataset folders, or tables of texts with summaries.
        data: Folder that their paths are relative to.
        recipe: Unit, vectors, parser, oracle and network.
        cache: Folder in which dataset folders made of tables are kept, named by all that made them; runs may share it.
        report: Takes lines of progress.
        workers: Processes that make dataset folders.

    Raises:
        InputError: A source that is none, a dataset folder made with other options, or no document at all.
    """
    found = []
    memory = MEMORY // max(1, len(sources))
    for source in sources:
        path = data / source.path
        if (path / MANIFEST).is_file() or (path / RECIPE).is_file():
            examples = _examples(path, recipe, memory, source.first, source.last)
            _check(path, examples, recipe)
        else:
            examples = _examples(_prepared(path, source, recipe, cache, report, workers), recipe, memory)
        report(f"{source}: {len(examples)} documents")
        found.append((examples, source.weight))
    whole = Collection(found)
    if not len(whole):
        raise InputError("expected documents with text and references, got none")
    return whole


def _wanted(recipe: SummarizerRecipe) -> PreprocessRecipe:
    # Both units where the oracle can label both: encoding is what costs, and another recipe may want the other one.
    units = (recipe.unit,) if recipe.oracle == "discobert-edu" else UNITS
    encoder = "none" if recipe.encodes else recipe.vectors
    return PreprocessRecipe(recipe.parser, recipe.oracle, recipe.oracle_units, units, encoder)


def _examples(
    folder: Path, recipe: SummarizerRecipe, memory: int, first: int = 0, last: int | None = None
) -> UnitExamples:
    return UnitExamples(folder, recipe.unit, recipe.synthesizer, first, last, memory, encoded=not recipe.encodes)


def _check(folder: Path, examples: UnitExamples, recipe: SummarizerRecipe) -> None:
    from discsum.parsers.pretrained import fingerprint

    wanted = asdict(_wanted(recipe))
    there = {name: examples.recipe[name] for name in ("oracle", "oracle_units", "encoder")}
    if recipe.encodes:
        # Vectors that are there do no harm.
        wanted["encoder"] = there["encoder"]
    there["parser"] = examples.recipe["made_by"]["parser"]
    here = {name: wanted[name] for name in there} | {"parser": fingerprint(recipe.parser)}
    changed = differences(there, here)
    if changed:
        raise InputError(f"{folder}: expected a dataset folder made as the recipe says, found another ({changed})")


def _prepared(table: Path, source: Source, recipe: SummarizerRecipe, cache: Path, report: Report, workers: int) -> Path:
    """Return the dataset folder of a table's rows, made where there is none yet."""
    if not table.is_file():
        raise InputError(f"{table}: expected a dataset folder or a table, found neither")
    wanted = _wanted(recipe)
    identity = {"name": table.name, "sha256": sha256(table), "first": source.first, "last": source.last}
    content = [asdict(wanted), identity, makers(wanted)]
    name = hashlib.sha256(json.dumps(content).encode()).hexdigest()[:12]
    folder = cache / f"{table.name.split('.')[0]}-{name}"
    pairs = read_pairs(table, first=source.first, last=source.last)
    manifest = preprocess(
        pairs,
        identity,
        folder,
        wanted,
        workers=workers,
        wait=True,
        report=lambda done: report(f"{source}: parsed {done}\r"),
    )
    if manifest.failed:
        report(f"{source}: {manifest.failed} rows left out, see {folder / 'failures.jsonl'}")
    return folder
