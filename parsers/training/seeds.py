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
from discsum.parsers.parser import Parser
from discsum.parsers.training.evaluation import ParserScores, evaluate_parser
from discsum.parsers.training.recipe import ParserRecipe
from discsum.parsers.training.trainer import ParserTrainer, Report


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
    report: Report,
) -> tuple[list[SeedRun], ParserScores]:
    """Train a parser with each of the recipe's seeds; keep the mean of their best weights in `folder / 'best'`.

    Each run is in `folder / 'seed-N'` and resumes as any other; arguments and errors are those of `ParserTrainer`.

    Returns:
        The runs, and the scores of the mean.
    """
    runs, parsers = [], []
    for seed in recipe.seeds:
        report(f"seed {seed}")
        place = folder / f"seed-{seed}"
        trainer = ParserTrainer(replace(recipe, seed=seed, seeds=()), train, dev, place, name, texts, report)
        trainer.run(report)
        parsers.append(Parser.from_pretrained(place / "best"))
        runs.append(SeedRun(seed, trainer.best["epoch"], evaluate_parser(parsers[-1], dev)))
    mean_parser(parsers, name).save_pretrained(folder / "best")
    # What is saved is in half precision, and that is what is measured.
    scores = evaluate_parser(Parser.from_pretrained(folder / "best"), dev)
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
