"""Training runs of summarizers: from a recipe's content to a model folder."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from discsum.data.training_sets import collection
from discsum.recipes import common_fields
from discsum.training.extractive import SummarizerTrainer
from discsum.training.processes import in_turn
from discsum.training.recipe import SummarizerRecipe

Report = Callable[[str], None]


def train_summarizer(content: dict[str, Any], folder: Path, report: Report) -> Path:
    """Train a recipe of the kind `extractive` to its end; return the folder of its best weights.

    Args:
        content: The recipe's fields.
        folder: Where the run is kept; what is made of tables is kept in the folder `datasets` beside it.
        report: Takes lines of progress, of the first process only.

    Raises:
        DiscsumError: A recipe, data or a folder that cannot be trained with or in.
    """
    data, name, notes = common_fields(content)
    recipe = SummarizerRecipe.from_dict(content)
    with in_turn() as main:
        say: Report = report if main else lambda line: None
        cache = folder.parent / "datasets"
        train, validation = (
            collection(sources, data, recipe, cache, say) for sources in (recipe.train, recipe.validation)
        )
    SummarizerTrainer(recipe, train, validation, folder, name, notes, say).run(say)
    say(f"{folder / 'best'}: the weights of the best validation; use them with --model {folder / 'best'}")
    return folder / "best"
