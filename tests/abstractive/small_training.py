"""Training runs on a few small texts, as the tests of all families begin them."""

from small_news import write_table

from discsum.abstractive.recipe import AbstractiveRecipe
from discsum.abstractive.training.pairs import PairData, pair_collection
from discsum.abstractive.training.task import AbstractiveTask
from discsum.training.loop import TrainingLoop


def make_data(folder):
    """Fill a folder with tables of texts to learn from and to choose by; return it."""
    write_table(folder / "train.jsonl", 0, 24)
    write_table(folder / "validation.jsonl", 100, 106)
    return folder


def recipe_fields(parser_folder, **fields):
    """Return the content of a recipe on `make_data`'s tables."""
    shared = {
        "train": [{"path": "train.jsonl"}],
        "validation": [{"path": "validation.jsonl"}],
        "parser": str(parser_folder),
        "epochs": 2,
        "batch_size": 8,
    }
    return shared | fields


def training_loop(fields, data, folder):
    """Return what trains a recipe's content in a folder; what is made of the texts is kept beside them."""
    recipe = AbstractiveRecipe.from_dict(fields)
    needs = PairData.of(recipe)
    both = (recipe.train, recipe.validation)
    train, validation = (pair_collection(sources, data, needs, data / "datasets", silent) for sources in both)
    return TrainingLoop(AbstractiveTask(recipe, train, validation, "tiny", "A note.", silent), folder)


def silent(line):
    """Take a line of the log."""
