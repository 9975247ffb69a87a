"""Examples of a recipe's sources: dataset folders, and tables, which are preprocessed into a cache."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Mapping, Sequence, Sized
from dataclasses import replace
from pathlib import Path
from typing import Any, Protocol, TypeVar

from discsum.constants import HUB
from discsum.data.made_folder import is_dataset_folder
from discsum.data.manifest import Manifest, failures_told
from discsum.data.pairs import PairSource
from discsum.data.preprocess import preprocess_job
from discsum.data.preprocess_recipe import PreprocessRecipe, makers
from discsum.data.run_options import RunOptions
from discsum.data.shard_run import make_all
from discsum.data.storage import Location, is_pattern, is_url, location
from discsum.errors import DamagedError, InputError
from discsum.recipes.sources import Rows, Source

Report = Callable[[str], None]
Row = TypeVar("Row", bound=Sized, covariant=True)
# Bytes of examples that a run keeps in memory; it reads others from disk again.
MEMORY = 1 << 30
# Characters of URLs and patterns that are replaced in names of folders.
NO_LETTERS = str.maketrans(":*?[]", "-----")
# Remedies in errors about a table's columns.
COLUMNS = ("text_column in the recipe's source", "summary_column in the recipe's source")


class ExampleNeeds(Protocol[Row]):
    """What a run needs from its documents."""

    @property
    def made_by(self) -> PreprocessRecipe:
        """Recipe of the dataset folders that are made for the run."""

    def examples(self, folder: Location, memory: int, first: int = 0, last: int | None = None) -> Row:
        """Return a dataset folder's examples, keeping at most `memory` bytes in memory."""

    def check(self, folder: Location, recipe: Mapping[str, Any]) -> None:
        """Raise `InputError` if a dataset folder's recipe does not fit the run."""


def read_sources(
    sources: Sequence[Source], data: Path, needs: ExampleNeeds[Row], cache: Path, report: Report
) -> list[tuple[Row, float]]:
    """Return the examples of a recipe's sources, each source with its weight.

    Args:
        sources: Dataset folders, or tables or Hugging Face datasets of texts with summaries.
        data: Folder that their paths are relative to; URLs are not.
        needs: What the run needs from the documents.
        cache: Folder for preprocessed tables, named by content and options; runs may share it.
        report: Takes lines of progress.

    Raises:
        InputError: Not a source, a dataset folder made with other options, or no documents.
    """
    check_folders(sources, data, needs)
    found = []
    memory = MEMORY // max(1, len(sources))
    for source in sources:
        path = path_of(source, data)
        if is_dataset_folder(path):
            examples = needs.examples(path, memory, source.first, source.last)
        else:
            examples = needs.examples(_prepared(source, data, needs.made_by, cache, report), memory)
        report(f"{source}: {len(examples)} documents")
        found.append((examples, source.weight))
    if not any(len(examples) for examples, _ in found):
        raise InputError("expected documents with text and references, got none")
    return found


def check_folders(sources: Iterable[Source], data: Path, needs: ExampleNeeds[Any]) -> None:
    """Check that the dataset folders among sources fit the run, without reading their documents.

    Raises:
        InputError: A dataset folder that does not, or whose source names columns.
    """
    for source in sources:
        path = path_of(source, data)
        if not is_dataset_folder(path):
            continue
        needs.check(path, Manifest.read(path).recipe)
        if source.columns:
            raise InputError(
                f"{path}: {' and '.join(source.columns)} cannot be used with a dataset folder, whose columns discsum "
                "preprocess chose"
            )


def name_of(rows: Rows, data: Path) -> str:
    """Return the name of a folder, table or Hugging Face dataset: paths below `data`, other names as they are."""
    return rows.path if _is_elsewhere(rows) else str(data / rows.path)


def path_of(source: Source, data: Path) -> Location:
    """Return where a dataset folder or table is: URLs as they are, paths relative to `data`."""
    return location(name_of(source, data))


def pairs_of(source: Source, data: Path) -> PairSource:
    """Return the texts with summaries of a source that is no dataset folder.

    Raises:
        InputError: No such file.
    """
    rows = PairSource(name_of(source, data), source.text_column, source.summary_column, COLUMNS)
    path = Path(rows.name)
    if not (_is_elsewhere(source) or path.exists() or is_pattern(path)):
        raise InputError(
            f"{path}: expected a dataset folder or a table, found neither; set data=FOLDER to the folder of "
            f"{source.path}, or change the recipe's sources"
        )
    return rows


def _is_elsewhere(rows: Rows) -> bool:
    return rows.path.startswith(HUB) or is_url(rows.path)


def _prepared(source: Source, data: Path, wanted: PreprocessRecipe, cache: Path, report: Report) -> Path:
    """Return the dataset folder for the rows of a table or Hugging Face dataset; make it first if there is none."""
    rows = pairs_of(source, data)
    # Columns count only if the source names them, so that existing folders keep their names.
    own = {field: value for field, value in rows.identity().items() if not field.endswith("_column")}
    identity = own | {"first": source.first, "last": source.last} | source.columns
    digest = hashlib.sha256(json.dumps([wanted.to_dict(), identity, makers(wanted)]).encode()).hexdigest()[:12]
    folder = cache / f"{Path(rows.name).name.split('.')[0].translate(NO_LETTERS)}-{digest}"
    job = preprocess_job(rows.pairs(source.first, source.last), identity, folder, wanted)
    options = RunOptions(wait=True, report=lambda done: report(f"{source}: parsed {done}\r"), warn=report)
    try:
        manifest = make_all(job, options)
    except DamagedError:
        manifest = make_all(job, replace(options, verify=True))
    if manifest.failed:
        report(f"{source}: {failures_told(folder, manifest.failed, 'rows left out')}")
    return folder
