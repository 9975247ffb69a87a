"""The training loop of the parser: resumable after every epoch, averaged weights, best epoch kept."""

from __future__ import annotations

import copy
import json
import math
import random as python_random
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from discsum.document import Document
from discsum.errors import DiscsumError
from discsum.files import replacing
from discsum.parsers.network import ParserNetwork
from discsum.parsers.parser import Parser
from discsum.parsers.pretrained import pretrained_encoder
from discsum.parsers.training.evaluation import evaluate_parser
from discsum.parsers.training.examples import Example, label_set, make_example
from discsum.parsers.training.losses import batch_losses
from discsum.parsers.training.recipe import ParserRecipe
from discsum.parsers.training.silver import digest, in_turns, shortened, taught, with_paragraphs
from discsum.parsers.training.start import begin_with
from discsum.parsers.training.teachers import Teachers
from discsum.training.checkpoint import check_data, earlier_state, load_checkpoint, save_checkpoint
from discsum.training.schedule import rate_factor, update_average

Report = Callable[[str], None]


class ParserTrainer:
    """Trains a parser on gold documents and keeps the averaged weights that score best on others."""

    def __init__(
        self,
        recipe: ParserRecipe,
        train: Sequence[Document],
        dev: Sequence[Document],
        folder: Path,
        name: str,
        texts: Sequence[str] = (),
        report: Report = lambda line: None,
        cache: Path | None = None,
    ) -> None:
        """Prepare a run in `folder`, or the rest of one that was interrupted there.

        Args:
            recipe: All settings.
            train: Gold documents to learn from.
            dev: Gold documents to choose the epoch by.
            folder: Where the run is kept.
            name: The parser's name.
            texts: Texts without trees, to learn from the recipe's teachers.
            report: Takes lines of progress.
            cache: Folder of the teachers' answers; by default `silver` beside the run's, which runs there share.

        Raises:
            InputError: The folder holds a run of another recipe or with other teachers, teachers and texts
                are none to learn from, or `start` is no parser to begin with.
            WeightsError: A damaged checkpoint or teacher.
        """
        self.recipe, self.dev, self.folder, self.name = recipe, dev, folder, name
        state = earlier_state(folder, recipe.to_dict())
        self._seed(0)
        pretrained = pretrained_encoder(recipe.encoder)
        self.tokenizer = pretrained.tokenizer
        labels = label_set(train)
        device = "cuda" if torch.cuda.is_available() else "cpu"
        self.network = ParserNetwork(pretrained.encoder, pretrained.special, labels, recipe.network).to(device)
        if recipe.start and state is None:
            taken = begin_with(self.network, self.tokenizer, recipe.start)
            report(f"begins with the {', '.join(taken)} of {recipe.start}")
        # Word vectors hold half of the parameters; a few hundred documents only blur them.
        for parameter in pretrained.encoder.get_input_embeddings().parameters():  # type: ignore[operator]
            parameter.requires_grad_(False)
        self.examples: list[Example] = [make_example(document, self.tokenizer, labels) for document in train]
        self.silver: list[Example] = []
        if recipe.teachers and (state is None or state["epoch"] < self.end):
            teachers = Teachers.load(recipe.teachers, labels, device, recipe.bf16)
            parts = [with_paragraphs(shortened(text, recipe.longest)) for text in texts]
            self.silver = taught(parts, teachers, self.tokenizer, cache or folder.parent / "silver", report)
        self.steps_an_epoch = math.ceil(len(self.examples) / recipe.batch)
        self.optimizer = self._optimizer()
        self.average = {key: value.detach().clone() for key, value in self.network.state_dict().items()}
        self.epoch, self.log = 0, list[dict[str, Any]]()
        self._data = digest([*self.examples, *self.silver])
        if state is not None:
            self._resume(state)

    def run(self, report: Report) -> None:
        """Train to the last epoch; the weights that scored best are in `folder / 'best'`."""
        while self.epoch < self.end:
            started = time.monotonic()
            losses = self._train_epoch(report)
            parser = self._averaged_parser()
            scores = evaluate_parser(parser, self.dev)
            self.epoch += 1
            if all(scores.summary > entry["summary"] for entry in self.log):
                parser.save_pretrained(self.folder / "best")
            self.log.append(
                {
                    "epoch": self.epoch,
                    "losses": losses,
                    "dev": str(scores),
                    "summary": scores.summary,
                    "seconds": round(time.monotonic() - started),
                }
            )
            self._save()
            report(f"epoch {self.epoch}/{self.end} {scores} ({self.log[-1]['seconds']} s) losses {losses}")

    @property
    def end(self) -> int:
        """The epoch after which the run is done."""
        return self.recipe.stop or self.recipe.epochs

    @property
    def best(self) -> Mapping[str, Any]:
        """What the log says of the epoch whose weights are kept."""
        return best_of(self.log)

    def _train_epoch(self, report: Report) -> list[float]:
        self._seed(self.epoch + 1)
        random = np.random.default_rng([self.recipe.seed, self.epoch + 1])
        order = random.permutation(len(self.examples))
        self.network.train()
        total = np.zeros(3)
        for step in range(self.steps_an_epoch):
            chosen = [self.examples[index] for index in order[step * self.recipe.batch :][: self.recipe.batch]]
            done = (self.epoch + step / self.steps_an_epoch) / self.recipe.epochs
            factor = rate_factor(done, self.recipe.warmup, self.steps_an_epoch * self.recipe.epochs)
            for group in self.optimizer.param_groups:
                group["lr"] = group["peak"] * factor
            silver = self._silver(self.epoch * self.steps_an_epoch + step)
            losses = batch_losses(self.network, chosen, silver, self.recipe, random, done >= self.recipe.predicted_from)
            value = losses.total(self.recipe)
            if not torch.isfinite(value):
                names = ", ".join(repr(example.id) for example in [*chosen, *silver])
                raise DiscsumError(f"epoch {self.epoch + 1}, step {step + 1}: the loss is {value.item()} on {names}")
            self.optimizer.zero_grad()
            value.backward()  # type: ignore[no-untyped-call]
            torch.nn.utils.clip_grad_norm_(self.network.parameters(), 1.0)
            self.optimizer.step()
            update_average(self.average, self.network, self.epoch * self.steps_an_epoch + step, self.recipe.average)
            parts = [losses.tags.item(), losses.splits.item(), losses.labels.item()]
            total += parts
            report(
                f"epoch {self.epoch + 1} step {step + 1}/{self.steps_an_epoch} losses {np.round(parts, 3).tolist()}\r"
            )
        return [float(value) for value in np.round(total / self.steps_an_epoch, 3)]

    def _silver(self, step: int) -> list[Example]:
        """Return the documents that teachers speak for in a step of the run."""
        if not self.silver:
            return []
        return in_turns(self.silver, step * self.recipe.silver, self.recipe.silver, self.recipe.seed)

    def _optimizer(self) -> torch.optim.Optimizer:
        groups: dict[tuple[bool, bool], list[Tensor]] = {}
        for name, parameter in self.network.named_parameters():
            if parameter.requires_grad:
                groups.setdefault((name.startswith("encoder."), parameter.ndim > 1), []).append(parameter)
        rates = {True: self.recipe.encoder_rate, False: self.recipe.rate}
        return torch.optim.AdamW(
            [
                {
                    "params": parameters,
                    "lr": rates[encoder],
                    "peak": rates[encoder],
                    "weight_decay": self.recipe.decay if matrix else 0.0,
                }
                for (encoder, matrix), parameters in sorted(groups.items(), key=lambda item: item[0])
            ]
        )

    def _averaged_parser(self) -> Parser:
        network = copy.deepcopy(self.network)
        network.load_state_dict(self.average)
        return Parser(network, self.tokenizer, self.name)

    def _seed(self, epoch: int) -> None:
        # Seeded anew each epoch: an interrupted run goes on exactly as an undisturbed one.
        seed = self.recipe.seed * 10_000 + epoch
        torch.manual_seed(seed)
        python_random.seed(seed)

    def _save(self) -> None:
        state = {"epoch": self.epoch, "log": self.log, "recipe": self.recipe.to_dict(), "data": self._data}
        save_checkpoint(self.folder, self.network, self.average, self.optimizer, state)
        with replacing(self.folder / "log.json") as path:
            path.write_text(json.dumps(self.log, indent=1) + "\n", encoding="utf-8")

    def _resume(self, state: dict[str, Any]) -> None:
        if state["epoch"] < self.end:
            check_data(self.folder, state, self._data)
        load_checkpoint(self.folder, self.network, self.average, self.optimizer)
        self.epoch, self.log = state["epoch"], state["log"]


def best_of(log: Sequence[Mapping[str, Any]]) -> Mapping[str, Any]:
    """Return what a run's log says of its best epoch, the first of equals."""
    return max(log, key=lambda entry: entry["summary"])
