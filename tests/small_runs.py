"""Small runs of the extractive summarizer."""

from small_news import write_table

from discsum.encoder.synthesizer import SynthesizerConfig
from discsum.recipes.sources import Source
from discsum.summarizer.training.recipe import SummarizerRecipe
from discsum.summarizer.training.sources import collection
from discsum.summarizer.training.task import ExtractiveTask
from discsum.training.loop import TrainingLoop


def recipe(parser_folder, **changes):
    """Return a recipe of a small run, with changes."""
    settings = {
        "train": (Source("train.jsonl"),),
        "validation": (Source("validation.jsonl"),),
        "parser": str(parser_folder),
        "units": 1,
        "oracle_units": 1,
        "epochs": 4,
        "validation_metric": "rouge1+rouge2",
        "batch_size": 8,
        "learning_rate": 3e-3,
        "synthesizer": SynthesizerConfig(inner=32, scorer=8),
    }
    return SummarizerRecipe(**{**settings, **changes})


def make_data(folder):
    """Write a training table and a validation table to a folder; return the folder."""
    write_table(folder / "train.jsonl", 0, 24)
    write_table(folder / "validation.jsonl", 100, 108)
    return folder


def silent(line):
    """Ignore a line of the log."""


def trainer(data, parser_folder, folder, report=silent, **changes):
    """Return the training loop of such a recipe in a folder."""
    made = recipe(parser_folder, **changes)
    train, validation = (
        collection(sources, data, made, data / "datasets", silent) for sources in (made.train, made.validation)
    )
    return TrainingLoop(ExtractiveTask(made, train, validation, "tiny-news", "A note."), folder, report)
