"""Training runs on a few small texts, for the tests of all families."""

from small_news import write_table

from discsum.abstractive.recipe import AbstractiveRecipe
from discsum.abstractive.training.pairs import PairData, pair_collection
from discsum.abstractive.training.task import AbstractiveTask
from discsum.training.loop import TrainingLoop

# Fields of a small sparse model, trained from random weights.
SPARSE = {
    "scratch": {"vocabulary": 300, "width": 16, "layers": 2, "heads": 2, "inner": 16, "positions": 192, "dropout": 0.1},
    "source_tokens": 192,
    "target_tokens": 24,
    "learning_rate": 3e-3,
    "r": 2,
}


def make_data(folder):
    """Write tables of training and validation texts to a folder; return it."""
    write_table(folder / "train.jsonl", 0, 24)
    write_table(folder / "validation.jsonl", 100, 106)
    return folder


def recipe_fields(parser_folder, **fields):
    """Return the fields of a recipe that trains on the tables of `make_data`."""
    shared = {
        "train": [{"path": "train.jsonl"}],
        "validation": [{"path": "validation.jsonl"}],
        "parser": str(parser_folder),
        "epochs": 2,
        "batch_size": 8,
    }
    return shared | fields


def training_loop(fields, data, folder, report=lambda line: None):
    """Return the training loop of a recipe's fields in a folder; datasets made of the texts are kept beside them."""
    recipe = AbstractiveRecipe.from_dict(fields)
    needs = PairData.of(recipe)
    both = (recipe.train, recipe.validation)
    train, validation = (pair_collection(sources, data, needs, data / "datasets", silent) for sources in both)
    return TrainingLoop(AbstractiveTask(recipe, train, validation, "tiny", "A note.", silent), folder, report)


def silent(line):
    """Ignore a line of the log."""
