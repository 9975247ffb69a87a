"""Training runs of tiny parsers on the tests' small treebank."""

import tiny

from discsum.parsers.training.recipe import ParserRecipe
from discsum.parsers.training.splits import Treebank
from discsum.parsers.training.task import ParserTask
from discsum.parsers.treebank import read_gum
from discsum.training.loop import TrainingLoop


def recipe(encoder_folder, **changes):
    network = {**tiny.SIZES, "design": "chart"}
    settings = {
        "encoder": str(encoder_folder),
        "network": network,
        "epochs": 4,
        "batch_size": 1,
        "learning_rate": 0.01,
        "predicted_edus": 0.5,
    }
    return ParserRecipe.from_dict({**settings, **changes})


class KilledError(Exception):
    pass


def train(recipe, treebank, folder, kill_at="never"):
    lines = []

    def report(line):
        lines.append(line)
        if kill_at in line:
            raise KilledError

    documents = (read_gum(treebank, split) for split in ("train", "dev"))
    loop = TrainingLoop(ParserTask(recipe, Treebank.of_gum("gum", *documents), "tiny-gum", "A note."), folder, report)
    loop.run()
    return loop, lines
