"""Runs killed at random moments and restarted until they finish give the same bytes as undisturbed runs."""

from __future__ import annotations

import os
import shutil
import signal
import sys
import tempfile
import time
import traceback
import warnings
from collections.abc import Callable, Mapping
from importlib import import_module
from pathlib import Path

import numpy as np
import small_treebank
import tiny
import torch
from small_news import write_table
from small_runs import make_data, trainer

from campaigns.made_files import content
from discsum.abstractive.recipe import AbstractiveRecipe
from discsum.abstractive.training.pairs import PairData, pair_collection
from discsum.abstractive.training.task import AbstractiveTask
from discsum.data.input_source import InputSource
from discsum.data.pairs import PairSource
from discsum.data.parse_parts import ParseRecipe, parse_job
from discsum.data.part_maker import Division
from discsum.data.preprocess import preprocess_job
from discsum.data.preprocess_recipe import PreprocessRecipe
from discsum.data.run_options import RunOptions
from discsum.data.shard_run import make_all
from discsum.parsers.training.recipe import ParserRecipe
from discsum.parsers.training.splits import Treebank
from discsum.parsers.training.task import ParserTask
from discsum.parsers.treebank import read_gum
from discsum.training.loop import TrainingLoop

# What runs import late. Imported once here, because every run is a fork of this process.
LATE = ("accelerate", "pyarrow.parquet", "rouge_score_rs", "torch.utils.tensorboard")


def silent(line: str) -> None:
    """Report nothing."""


def jobs(place: Path) -> dict[str, Callable[[Path], None]]:
    """Write models and data to a folder; return the job of each kind of run, a function of the run's folder."""
    parser, encoder = place / "parser", place / "encoder"
    tiny.make_parser().save_pretrained(parser)
    tiny.save_encoder(encoder)
    small_treebank.write(place / "gum")
    (place / "news").mkdir()
    table, news = write_table(place / "news.jsonl", 0, 12), make_data(place / "news")

    def prepare(folder: Path, workers: int) -> None:
        source = PairSource(str(table))
        recipe = PreprocessRecipe(str(parser), shard=2)
        make_all(preprocess_job(source.pairs(), source.identity(), folder, recipe), RunOptions(workers=workers))

    def parse(folder: Path) -> None:
        source = InputSource([str(table)])
        recipe = ParseRecipe(str(parser))
        make_all(parse_job(source, folder, recipe, Division(shard=2)), RunOptions())

    def train_parser(folder: Path) -> None:
        settings = {
            "encoder": str(encoder),
            "network": dict(tiny.SIZES),
            "epochs": 4,
            "batch_size": 1,
            "learning_rate": 0.01,
        }
        bank = Treebank.of_gum("gum", *(read_gum(place / "gum", split) for split in ("train", "dev")))
        TrainingLoop(ParserTask(ParserRecipe.from_dict(settings), bank, "tiny"), folder, silent).run()

    def train_summarizer(folder: Path) -> None:
        trainer(news, parser, folder).run()

    def train_abstractive(folder: Path) -> None:
        scratch = {"vocabulary": 300, "width": 16, "layers": 2, "heads": 2, "inner": 16, "positions": 192}
        tables = {"train": [{"path": "train.jsonl"}], "validation": [{"path": "validation.jsonl"}]}
        sizes = {"source_tokens": 192, "target_tokens": 24, "epochs": 3, "batch_size": 8, "r": 2, "selector": "gru"}
        settings = {**tables, **sizes, "parser": str(parser), "scratch": scratch, "objective": {"mode": "int-mix"}}
        recipe = AbstractiveRecipe.from_dict(settings)
        sources, needs = (recipe.train, recipe.validation), PairData.of(recipe)
        pairs = (pair_collection(one, news, needs, news / "pairs", silent) for one in sources)
        TrainingLoop(AbstractiveTask(recipe, *pairs, "tiny", "", silent), folder).run()

    return {
        "preprocess": lambda folder: prepare(folder, 1),
        "preprocess with two workers": lambda folder: prepare(folder, 2),
        "parser": train_parser,
        "summarizer": train_summarizer,
        "abstractive": train_abstractive,
        "parse --shards": parse,
    }


def killed(job: Callable[[Path], None], folder: Path, after: float, changes: int | None = None) -> bool:
    """Run a job in a separate process and kill it; return whether it ended before.

    It is killed after `after` seconds, or earlier if the names in the folder have changed `changes` times: while a
    shard or a checkpoint is being written or renamed.
    """
    process = os.fork()
    if process == 0:
        code = 1
        try:
            # A process group of its own, so that its workers can be found.
            os.setpgid(0, 0)
            job(folder)
            code = 0
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(code)
    deadline = time.monotonic() + after
    seen, left = names(folder), changes
    while time.monotonic() < deadline and left != 0:
        there = names(folder)
        if left is not None and there != seen:
            seen, left = there, left - 1
        ended, status = os.waitpid(process, os.WNOHANG)
        if ended:
            assert status == 0, f"{folder}: the run failed"
            return True
        time.sleep(0.0005)
    os.kill(process, signal.SIGKILL)
    os.waitpid(process, 0)
    return False


def names(folder: Path) -> set[str]:
    """Return the file names in a folder; an empty set if it does not exist."""
    try:
        return {path.name for path in folder.iterdir()}
    except FileNotFoundError:
        return set()


def attack(count: int, seed: int) -> Mapping[str, object]:
    """Kill `count` runs of each kind of training, and twice as many of preprocessing."""
    torch.set_num_threads(1)
    for name in LATE:
        import_module(name)
    figures: dict[str, object] = {}
    with tempfile.TemporaryDirectory() as name, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        place = Path(name)
        for number, (kind, job) in enumerate(jobs(place).items()):
            # Each kind has its own generator, so that its kills do not depend on other kinds.
            random = np.random.default_rng([seed, number])
            began = time.monotonic()
            assert killed(job, place / "whole", 600)
            needed = time.monotonic() - began
            wanted = content(place / "whole")
            kills = resumed = 0
            # Preprocessing is killed twice as often, because it is what users kill.
            while kills < count * (2 if "preprocess" in kind else 1):
                folder, longest = place / "killed", 1.5 * needed
                while True:
                    changes = int(random.integers(1, 12)) if random.random() < 0.5 else None
                    if killed(job, folder, float(random.uniform(0, longest)), changes):
                        break
                    kills += 1
                    # So that a run ends even if the machine has become slower since `needed` was measured.
                    longest *= 1.2
                resumed += 1
                found = content(folder)
                assert found.keys() == wanted.keys(), f"{kind}: {sorted(found.keys() ^ wanted.keys())}"
                other = [path for path in wanted if found[path] != wanted[path]]
                assert not other, f"{kind}: {other}"
                shutil.rmtree(folder)
            shutil.rmtree(place / "whole")
            figures[kind] = f"{kills} kills of {resumed} runs"
            # Printed as it goes, because a full campaign takes an hour or more.
            print(f"{kind}: {figures[kind]}", file=sys.stderr, flush=True)
    return {"kills of each": count, **figures}
