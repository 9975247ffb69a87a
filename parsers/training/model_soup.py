"""Several runs of one recipe that differ in their seeds, and the mean of their weights.

Runs that begin with the same trained parser stay near each other, so that the mean of their weights is a parser too,
and a better one than each of them (model soups, Wortsman et al. 2022). It does what falling learning rates do, whence
runs may end before theirs have fallen (`stop`).
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import torch

from discsum.document import Document
from discsum.errors import InputError
from discsum.parsers.parser import Parser
from discsum.parsers.training.evaluation import ParserScores, evaluate_parser
from discsum.parsers.training.recipe import ParserRecipe
from discsum.parsers.training.trainer import ParserTrainer, Report
from discsum.training.checkpoint import LAST, earlier_state


@dataclass(frozen=True)
class SeedRun:
    """One of the runs: its seed, the epoch whose weights were best, and their scores as they are saved."""

    seed: int
    epoch: int
    scores: ParserScores


def train_seeds(
    recipe: ParserRecipe,
    train: Sequence[Document],
    dev: Sequence[Document],
    folder: Path,
    name: str,
    texts: Sequence[str],
    report: Report = lambda line: None,
) -> tuple[list[SeedRun], ParserScores]:
    """Train a parser with each of the recipe's seeds; keep the mean of their best weights in `folder / 'best'`.

    Each run is in `folder / 'seed-N'` and resumes as any other; arguments are those of `ParserTrainer`.

    Returns:
        The runs, and the scores of the mean.

    Raises:
        InputError: As for `ParserTrainer`; or a single run is in the folder, or runs there learned from other examples.
        WeightsError: As for `ParserTrainer`.
    """
    if (folder / LAST).is_file():
        raise InputError(f"{folder}: expected a folder for runs of several seeds, found a single run there")
    runs, parsers, learned = [], [], {}
    for seed in recipe.seeds:
        report(f"seed {seed}")
        place, alone = folder / f"seed-{seed}", replace(recipe, seed=seed, seeds=())
        trainer = ParserTrainer(alone, train, dev, place, name, texts, report, folder.parent / "silver")
        trainer.run(report)
        state = earlier_state(place, alone.to_dict())
        assert state is not None, "a run that is done has a checkpoint"
        learned[seed] = state["data"]
        parsers.append(Parser.from_pretrained(place / "best", device=trainer.network.device.type))
        runs.append(SeedRun(seed, trainer.best["epoch"], evaluate_parser(parsers[-1], dev)))
    if len(set(learned.values())) > 1:
        raise InputError(f"{folder}: expected runs that learned from the same examples, found others ({learned})")
    mean_parser(parsers, name).save_pretrained(folder / "best")
    # What is saved is in half precision, and that is what is measured.
    scores = evaluate_parser(Parser.from_pretrained(folder / "best", device=parsers[0].network.device.type), dev)
    report(f"mean of {len(runs)} parsers' weights {scores}")
    return runs, scores


def mean_parser(parsers: Sequence[Parser], name: str) -> Parser:
    """Return the parser whose every weight is the mean of the parsers', which are alike but for their weights."""
    network = copy.deepcopy(parsers[0].network)
    states = [parser.network.state_dict() for parser in parsers]
    network.load_state_dict(
        {
            key: torch.stack([state[key].double() for state in states]).mean(dim=0).to(value.dtype)
            for key, value in network.state_dict().items()
        }
    )
    return Parser(network, parsers[0].tokenizer, name)
