"""Training runs of every kind: from a recipe's content to a model folder."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, TypeVar

from discsum.data.examples import Collection
from discsum.data.inputs import Item, read_inputs
from discsum.data.manifest import alone
from discsum.errors import InputError
from discsum.recipes import common_fields
from discsum.recipes.sources import Rows, Source
from discsum.summarizer.training.examples import UnitCollection
from discsum.summarizer.training.recipe import SummarizerRecipe
from discsum.summarizer.training.sources import UnitData, collection
from discsum.summarizer.training.task import ExtractiveTask
from discsum.training.loop import BEST, TrainingLoop
from discsum.training.processes import leave_group, local_main_first

Report = Callable[[str], None]
Examples = TypeVar("Examples")


def train(content: dict[str, Any], folder: Path, report: Report) -> Path:
    """Train a recipe to its end; return the folder of its best weights.

    Args:
        content: The recipe's fields; its `kind` is one of `KINDS`.
        folder: Where the run is kept; what runs may share is kept in folders beside it.
        report: Takes lines of progress, of the first process only.

    Raises:
        DiscsumError: A recipe, data or a folder that cannot be trained with or in, as one in which another run is at
            work.
    """
    check_kind(content)
    best = KINDS[content["kind"]](content, folder, report)
    # Not after an error: the others may wait for this process, which must end at once for their launcher to see it.
    leave_group()
    return best


def check_kind(content: dict[str, Any]) -> None:
    """Check that a recipe says what is trained.

    Raises:
        InputError: Its `kind` is none of `KINDS`.
    """
    if content.get("kind") not in KINDS:
        raise InputError(f"expected kind to be one of {', '.join(KINDS)}, got {content.get('kind')!r}")


def train_parser(content: dict[str, Any], folder: Path, report: Report) -> Path:
    """Train a recipe of the kind `parser`; what teachers say of texts is kept in the folder `silver` beside the run.

    Arguments and errors are those of `train`.
    """
    from discsum.parsers.training.model_soup import train_seeds
    from discsum.parsers.training.recipe import ParserRecipe
    from discsum.parsers.training.task import ParserTask
    from discsum.parsers.treebank import read_gum

    data, name, notes = common_fields(content)
    recipe = ParserRecipe.from_dict(content)
    train, dev = read_gum(data, "train"), read_gum(data, "dev")
    texts = [text for rows in recipe.texts for text in _texts(data, rows)]
    with _held(folder, report) as say:
        if recipe.seeds:
            train_seeds(recipe, train, dev, folder, name, notes, texts, say)
        else:
            cache = folder.parent / "silver"
            task = ParserTask(recipe, train, dev, name, notes, texts=texts, cache=cache)
            TrainingLoop(task, folder, say).run(say)
        kept = "the mean of the runs' best weights" if recipe.seeds else "the weights of the best validation"
        say(f"{folder / BEST}: {kept}; use them with --parser {folder / BEST}")
    return folder / BEST


def train_summarizer(content: dict[str, Any], folder: Path, report: Report) -> Path:
    """Train a recipe of the kind `extractive`; what is made of tables is kept in the folder `datasets` beside the run.

    Arguments and errors are those of `train`.
    """
    data, name, notes = common_fields(content)
    recipe = SummarizerRecipe.from_dict(content)
    needs = UnitData.of(recipe)

    def read(sources: Sequence[Source], cache: Path, say: Report) -> UnitCollection:
        return collection(sources, data, needs, cache, say)

    with _held(folder, report) as say:
        train, validation = _documents(read, (recipe.train, recipe.validation), folder, say)
        TrainingLoop(ExtractiveTask(recipe, train, validation, name, notes), folder, say).run(say)
        say(f"{folder / BEST}: the weights of the best validation; use them with --model {folder / BEST}")
    return folder / BEST


def train_abstractive(content: dict[str, Any], folder: Path, report: Report) -> Path:
    """Train a recipe of the kind `abstractive`, as `train_summarizer` does one of its own."""
    from discsum.abstractive.training.pairs import PairData, PairExample, pair_collection
    from discsum.abstractive.training.recipe import AbstractiveRecipe
    from discsum.abstractive.training.task import AbstractiveTask

    data, name, notes = common_fields(content)
    recipe = AbstractiveRecipe.from_dict(content)
    needs = PairData.of(recipe)

    def read(sources: Sequence[Source], cache: Path, say: Report) -> Collection[PairExample]:
        return pair_collection(sources, data, needs, cache, say)

    with _held(folder, report) as say:
        train, validation = _documents(read, (recipe.train, recipe.validation), folder, say)
        TrainingLoop(AbstractiveTask(recipe, train, validation, name, notes, say), folder, say).run(say)
        model = folder / BEST
        say(f"{model}: the weights of the best validation; use them with discsum abstract --model {model}")
    return folder / BEST


KINDS: dict[str, Callable[[dict[str, Any], Path, Report], Path]] = {
    "parser": train_parser,
    "extractive": train_summarizer,
    "abstractive": train_abstractive,
}


@contextmanager
def _held(folder: Path, report: Report) -> Iterator[Report]:
    """Hold a run's folder in the first process; yield the reporter of this process's progress."""
    with ExitStack() as held:
        with local_main_first() as main:
            if main:
                held.enter_context(alone(folder))
        yield report if main else lambda line: None


def _documents(
    read: Callable[[Sequence[Source], Path, Report], Examples],
    both: Sequence[Sequence[Source]],
    folder: Path,
    report: Report,
) -> tuple[Examples, Examples]:
    """Return the documents to learn from and to choose by; `read` takes sources, a cache folder and a reporter."""
    with local_main_first():
        train, validation = (read(sources, folder.parent / "datasets", report) for sources in both)
    return train, validation


def _texts(data: Path, rows: Rows) -> list[str]:
    """Return the texts of some rows of a table, with or without summaries."""
    texts = []
    for item in read_inputs([str(data / rows.path)], trees=False):
        if not isinstance(item, Item):
            raise InputError(f"texts: {item}")
        texts.append(item.text)
    return texts[rows.first : rows.last]
