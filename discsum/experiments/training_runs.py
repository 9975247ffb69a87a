"""Training runs of every kind, from recipe fields to a model folder."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sized
from contextlib import contextmanager
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any, TypeVar

from discsum.abstractive.recipe import AbstractiveRecipe
from discsum.data.inputs import Item, read_inputs
from discsum.data.locks import folder_lock
from discsum.data.prepared import check_folders, name_of
from discsum.errors import InputError, InputWarning, warn_caller
from discsum.experiments.source_checks import check_sample, check_sources
from discsum.parsers.training.recipe import ParserRecipe
from discsum.persistence import BEST
from discsum.recipes import common_fields
from discsum.recipes.fields import shown
from discsum.recipes.sources import Rows
from discsum.summarizer.training.checks import check_settings
from discsum.summarizer.training.recipe import SummarizerRecipe
from discsum.summarizer.training.sources import collection
from discsum.summarizer.training.task import ExtractiveTask
from discsum.training.checkpoint import LAST
from discsum.training.loop import TrainingLoop
from discsum.training.processes import is_main_process, leave_group, local_main_first
from discsum.training.recipe import RunRecipe, TrainingRecipe
from discsum.training.task import Report, TrainingTask

Examples = TypeVar("Examples", bound=Sized)


def train(content: dict[str, Any], folder: Path, report: Report) -> Path:
    """Train a recipe to its end; return the folder of its best weights.

    Args:
        content: Fields of the recipe; its `kind` is one of `KINDS`.
        folder: Folder of the run; runs in the same parent folder share the caches there.
        report: Receives progress lines, only from the first process.

    Raises:
        DiscsumError: Invalid recipe or data, or a folder that another run uses.
    """
    check_kind(content)
    _, run = KINDS[content["kind"]]
    best = run(content, folder, report)
    # Not after an error: the process must then exit at once, so that the launcher stops the others.
    leave_group()
    return best


def check_kind(content: dict[str, Any]) -> None:
    """Raise `InputError` if the `kind` of a recipe is not in `KINDS`."""
    if "kind" not in content:
        raise InputError(
            f"expected a recipe with kind ({', '.join(KINDS)}) or base (a recipe to change), got neither; add "
            "'base: parser-gum-first', for example"
        )
    if str(content["kind"]) not in KINDS:
        raise InputError(f"kind: expected one of {', '.join(KINDS)}, got {shown(content['kind'])}")


def train_parser(content: dict[str, Any], folder: Path, report: Report) -> Path:
    """Train a recipe of the kind `parser`, see `train`; pseudo-labelled texts are cached in the folder `silver`."""
    from discsum.parsers.training.model_soup import SEED, train_seeds
    from discsum.parsers.training.splits import read_treebank
    from discsum.parsers.training.task import ParserTask

    data, name, notes = common_fields(content)
    recipe = ParserRecipe.from_dict(content)
    if not data.is_dir():
        raise InputError(f"{data}: expected a folder with tree files, found no such folder; set data=FOLDER")
    with warnings.catch_warnings():
        if not is_main_process():
            # The first process gives the same warnings.
            warnings.simplefilter("ignore", InputWarning)
        treebank = read_treebank(data, recipe.split, recipe.sentences)
    texts = [text for rows in recipe.texts for text in _texts(data, rows)]
    with _locked(folder, report) as say:
        if not recipe.seeds:
            if any(folder.glob(f"{SEED.format('*')}/{LAST}")):
                raise InputError(f"{folder}: expected a folder for a single run, found runs of several seeds there")
            cache = folder.parent / "silver"
            task = ParserTask(recipe, treebank, name, notes, texts=texts, cache=cache)
            return _run(task, folder, say, "--parser")
        train_seeds(recipe, treebank, folder, name, notes, texts, say)
        best = folder / BEST
        say(f"{best}: the mean of the runs' best weights; use them with --parser {best}")
        return best


def train_summarizer(content: dict[str, Any], folder: Path, report: Report) -> Path:
    """Train a recipe of the kind `extractive`, see `train`; preprocessed tables are cached in the folder `datasets`."""
    data, name, notes = common_fields(content)
    recipe = SummarizerRecipe.from_dict(content)
    with _locked(folder, report) as say:
        read = partial(collection, data=data, recipe=recipe, report=say)
        train, validation = _documents(read, recipe, data, folder, lambda: check_settings(recipe, data))
        return _run(ExtractiveTask(recipe, train, validation, name, notes), folder, say, "--model")


def train_abstractive(content: dict[str, Any], folder: Path, report: Report) -> Path:
    """Train a recipe of the kind `abstractive`; all else as in `train_summarizer`."""
    from discsum.abstractive.training.pairs import PairData, pair_collection
    from discsum.abstractive.training.task import AbstractiveTask

    data, name, notes = common_fields(content)
    recipe = AbstractiveRecipe.from_dict(content)
    needs = PairData.of(recipe)

    with _locked(folder, report) as say:
        read = partial(pair_collection, data=data, needs=needs, report=say)
        sources = (*recipe.train, *recipe.validation)
        train, validation = _documents(read, recipe, data, folder, lambda: check_folders(sources, data, needs))
        task = AbstractiveTask(recipe, train, validation, name, notes, say)
        return _run(task, folder, say, "discsum abstract --model")


# The class of each kind of recipe, and what trains it.
KINDS: dict[str, tuple[type[TrainingRecipe], Callable[[dict[str, Any], Path, Report], Path]]] = {
    "parser": (ParserRecipe, train_parser),
    "extractive": (SummarizerRecipe, train_summarizer),
    "abstractive": (AbstractiveRecipe, train_abstractive),
}


@contextmanager
def _locked(folder: Path, report: Report) -> Iterator[Report]:
    """Lock a run's folder in the first process and yield this process's progress reporter, silent in the others."""
    if not is_main_process():
        yield lambda line: None
        return
    with folder_lock(folder):
        yield report


def _documents(
    read: Callable[..., Examples],
    recipe: RunRecipe,
    data: Path,
    folder: Path,
    check: Callable[[], None],
) -> tuple[Examples, Examples]:
    """Return the training and validation documents.

    Args:
        read: Reads sources; takes them and a cache folder.
        recipe: All settings.
        data: Folder that paths of sources are relative to.
        folder: Folder of the run.
        check: Further checks, called before a new run reads anything.
    """
    cache = folder.parent / "datasets"
    with local_main_first():
        if is_main_process() and not (folder / LAST).is_file():
            check_sources(recipe, data)
            check()
            for line in recipe.without_effect():
                warn_caller(line)
        train, validation = read(recipe.train, cache=cache), read(recipe.validation, cache=cache)
    # Checked again because rows may have failed.
    check_sample(recipe, len(train))
    return train, validation


def _run(task: TrainingTask[Any, Any], folder: Path, report: Report, usage: str) -> Path:
    """Train a task to its end; return the folder of the best weights."""
    TrainingLoop(task, folder, report).run()
    best = folder / BEST
    report(f"{best}: the weights of the best validation; use them with {usage} {best}")
    return best


def _texts(data: Path, rows: Rows) -> list[str]:
    """Return the texts in a range of a table's rows, with or without summaries."""
    texts, name = [], name_of(rows, data)
    for number, item in enumerate(islice(read_inputs([name], trees=False), rows.last)):
        # Also before the first row, because a table that cannot be read yields a single failure.
        if not isinstance(item, Item):
            raise InputError(f"texts: {item}")
        if number >= rows.first:
            texts.append(item.text)
    if not texts or (rows.last is not None and len(texts) < rows.last - rows.first):
        raise InputError(
            f"texts: expected rows {rows.first} to {'the end' if rows.last is None else rows.last} of "
            f"{name}, got {len(texts)}"
        )
    return texts
