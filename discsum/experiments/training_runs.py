"""Training runs of summarizers: from a recipe's content to a model folder."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from discsum.data.manifest import alone
from discsum.recipes import common_fields
from discsum.recipes.sources import Source
from discsum.summarizer.training.examples import Collection
from discsum.summarizer.training.recipe import SummarizerRecipe
from discsum.summarizer.training.sources import Reading, collection
from discsum.summarizer.training.task import SummarizerTrainer
from discsum.training.loop import BEST
from discsum.training.processes import in_turn

Report = Callable[[str], None]


def train_summarizer(content: dict[str, Any], folder: Path, report: Report) -> Path:
    """Train a recipe of the kind `extractive` to its end; return the folder of its best weights.

    Args:
        content: The recipe's fields.
        folder: Where the run is kept; what is made of tables is kept in the folder `datasets` beside it.
        report: Takes lines of progress, of the first process only.

    Raises:
        DiscsumError: A recipe, data or a folder that cannot be trained with or in, as one in which another run is at
            work.
    """
    data, name, notes = common_fields(content)
    recipe = SummarizerRecipe.from_dict(content)
    with ExitStack() as held:
        sources = (recipe.train, recipe.validation)
        train, validation, say = _documents(sources, data, Reading.of(recipe), folder, report, held)
        SummarizerTrainer(recipe, train, validation, folder, name, notes, say).run(say)
    say(f"{folder / BEST}: the weights of the best validation; use them with --model {folder / BEST}")
    return folder / BEST


def train_abstractive(content: dict[str, Any], folder: Path, report: Report) -> Path:
    """Train a recipe of the kind `abstractive`, as `train_summarizer` does one of the other kind."""
    from discsum.abstractive.training.recipe import AbstractiveRecipe
    from discsum.abstractive.training.trainer import AbstractiveTrainer

    data, name, notes = common_fields(content)
    recipe = AbstractiveRecipe.from_dict(content)
    reading = Reading(recipe.parser)
    with ExitStack() as held:
        sources = (recipe.train, recipe.validation)
        train, validation, say = _documents(sources, data, reading, folder, report, held)
        AbstractiveTrainer(recipe, train, validation, folder, name, notes, say).run(say)
    say(f"{folder / BEST}: the weights of the best validation; use them with discsum abstract --model {folder / BEST}")
    return folder / BEST


def _documents(
    both: Sequence[Sequence[Source]], data: Path, reading: Reading, folder: Path, report: Report, held: ExitStack
) -> tuple[Collection, Collection, Report]:
    """Return the documents to learn from and to choose by, and what takes this process's lines of progress.

    Of the processes of a run the first one holds the run's folder, until `held` ends.
    """
    with in_turn() as main:
        if main:
            held.enter_context(alone(folder))
        say: Report = report if main else lambda line: None
        train, validation = (collection(sources, data, reading, folder.parent / "datasets", say) for sources in both)
    return train, validation, say
