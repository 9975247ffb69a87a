"""Train one recipe with several seeds and average the weights of the runs.

Runs initialised from the same trained parser stay close to each other, so the mean of their weights is a parser too,
and a better one than each of them (model soups, Wortsman et al. 2022). Averaging replaces the decay of the learning
rate, so runs may end before theirs has decayed (`stop_after`).
"""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import torch

from discsum.errors import InputError
from discsum.files import replacing_folder
from discsum.parsers.parser import Parser
from discsum.parsers.training.card import mean_card
from discsum.parsers.training.evaluation import ParserScores, evaluate_parser
from discsum.parsers.training.recipe import ParserRecipe
from discsum.parsers.training.splits import Treebank
from discsum.parsers.training.task import ParserTask
from discsum.persistence import BEST, CARD
from discsum.training.checkpoint import LAST, earlier_state
from discsum.training.loop import TrainingLoop

# Folder of the run with a seed.
SEED = "seed-{}"


def train_seeds(
    recipe: ParserRecipe,
    treebank: Treebank,
    folder: Path,
    name: str,
    notes: str,
    texts: Sequence[str],
    report: Callable[[str], None] = lambda line: None,
) -> ParserScores | None:
    """Train a parser with each of the recipe's seeds and write the mean of their best weights to `folder / 'best'`.

    Each run is in `folder / 'seed-N'` and can be resumed; arguments are those of `ParserTask`.

    Returns:
        The scores of the averaged parser; None in all processes but the first.

    Raises:
        InputError: As for `ParserTask` and `TrainingLoop`; or the folder has a single run, or runs that began
            with other examples or another `start`.
        WeightsError: As for `ParserTask` and `TrainingLoop`.
    """
    if (folder / LAST).is_file():
        raise InputError(f"{folder}: expected a folder for runs of several seeds, found a single run there")
    runs, parsers, learned = list[tuple[str, ParserScores]](), [], {}
    for seed in recipe.seeds:
        report(f"seed {seed}")
        run_folder, run_recipe = folder / SEED.format(seed), replace(recipe, seed=seed, seeds=())
        cache = folder.parent / "silver"
        # Weights that `start` lacks must be the same in all runs, too.
        task = ParserTask(
            run_recipe,
            treebank,
            name,
            notes,
            texts=texts,
            cache=cache,
            weights_seed=recipe.seeds[0],
        )
        best = TrainingLoop(task, run_folder, report).run()
        if not task.accelerator.is_main_process:
            continue
        state = earlier_state(run_folder, run_recipe.to_dict())
        assert state is not None, "a finished run has a checkpoint"
        began = {name: value for name, value in state["task"].items() if value is not None}
        learned[seed] = json.dumps([state["data"], began], sort_keys=True)
        parsers.append(Parser.from_pretrained(run_folder / BEST, device=str(task.accelerator.device)))
        runs.append((f"seed {seed}, step {best.steps}", evaluate_parser(parsers[-1], treebank.dev)))
    if not runs:
        return None
    if len(set(learned.values())) > 1:
        raise InputError(
            f"{folder}: expected runs with the same examples and the same start, found different ones ({learned})"
        )
    # Measured as saved, in half precision.
    with replacing_folder(folder / BEST) as new:
        average_weights(parsers, name).save_pretrained(new)
        scores = evaluate_parser(Parser.from_pretrained(new, device=str(parsers[0].network.device)), treebank.dev)
        task.treebank.splits.write(new)
        (new / CARD).write_text(mean_card(name, recipe, task.treebank, runs, scores, notes), encoding="utf-8")
    report(f"mean of {len(runs)} parsers' weights {scores}")
    return scores


def average_weights(parsers: Sequence[Parser], name: str) -> Parser:
    """Return the parser with the mean weights of parsers that differ in their weights only."""
    network = copy.deepcopy(parsers[0].network)
    states = [parser.network.state_dict() for parser in parsers]
    network.load_state_dict(
        {
            key: torch.stack([state[key].double() for state in states]).mean(dim=0).to(value.dtype)
            for key, value in network.state_dict().items()
        }
    )
    return Parser(network, parsers[0].tokenizer, name, language=parsers[0].language)
