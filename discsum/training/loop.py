"""The training loop that every summarizer has: on any number of processes, resumable after every validation."""

from __future__ import annotations

import json
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn

from discsum.errors import DiscsumError, InputError
from discsum.files import replaced, replacing, replacing_folder
from discsum.persistence import CARD, CONFIG
from discsum.summarizer.training.examples import Collection
from discsum.training.checkpoint import LAST, check_data, earlier_state, load_checkpoint, save_checkpoint
from discsum.training.processes import accelerator
from discsum.training.recipe import RunRecipe
from discsum.training.sampling import Batches
from discsum.training.schedule import rate_factor, update_average
from discsum.training.tensorboard_log import Board

Report = Callable[[str], None]
LOG = "log.json"
BEST = "best"


@dataclass(frozen=True)
class Round:
    """What came out of the steps up to a validation.

    Attributes:
        steps: Steps of the run until then.
        loss: Mean training loss since the validation before.
        validation: The validation's figures, by name.
    """

    steps: int
    loss: float
    validation: dict[str, float]


class TrainingRun(ABC):
    """A run in a folder; its subclasses say what is learned, and what is kept.

    A subclass's `__init__` makes the network, whose forward passes give what `loss` needs, and ends in `begin`.
    """

    def __init__(
        self, recipe: RunRecipe, train: Collection, validation: Collection, folder: Path, name: str, notes: str
    ) -> None:
        """Draw the recipe's sample and check what needs no network.

        Args:
            recipe: All settings.
            train: Documents to learn from.
            validation: Documents to choose by.
            folder: Where the run is kept.
            name: The model's name.
            notes: For its card.

        Raises:
            InputError: Validation documents among those to learn from, or more processes than documents a step.
        """
        self._settings, self.folder, self.name, self.notes = recipe, folder, name, notes
        self.train = train.sampled(recipe.sample, recipe.draw) if recipe.sample else train
        self.validation = validation
        replaced(folder / BEST)
        shared = set(self.train.texts()) & set(validation.texts())
        if shared:
            raise InputError(f"expected no validation document among the training documents, got {len(shared)}")
        self.accelerator = accelerator(recipe.bf16)
        if recipe.batch < self.accelerator.num_processes:
            raise InputError(f"batch: expected a document for each of {self.accelerator.num_processes} processes")
        self.batches = Batches(self.train.lengths, self.train.weights, recipe.batch, recipe.seed)
        self.steps = recipe.steps or recipe.epochs * self.batches.steps
        self.log: list[Round] = []

    def begin(self, network: nn.Module, optimizer: torch.optim.Optimizer, report: Report) -> None:
        """Take the network and its optimizer, and what an interrupted run in the folder left of them.

        Each group of the optimizer has its peak learning rate as `peak`.

        Raises:
            InputError: The folder holds a run of another recipe, on other documents, or without its best weights.
            WeightsError: A damaged checkpoint.
        """
        self.network = network
        # Without a decay the average is the weights themselves, which need no copy.
        averaged = network.state_dict() if self._settings.average else {}
        self.average = {key: value.detach().clone() for key, value in averaged.items()}
        self._data = f"{self.train.digest} {self.validation.digest}"
        state = earlier_state(self.folder, self._settings.to_dict())
        if state is not None:
            check_data(self.folder, state, self._data)
            load_checkpoint(self.folder, network, self.average, optimizer)
            self.log = [Round(**entry) for entry in state["log"]]
            if not (self.folder / BEST / CONFIG).is_file():
                # Only a round that is better would write them again.
                raise InputError(
                    f"{self.folder / BEST}: expected the weights of step {self.best.steps}, the best validation of the "
                    f"run in {self.folder}, found none; put them back, or delete {self.folder / LAST} to train anew"
                )
        elif self.accelerator.is_main_process:
            count = sum(one.numel() for one in network.parameters() if one.requires_grad)
            report(f"{len(self.train)} documents, {self.steps} steps, {count:,} parameters")
        self._check_together()
        self._wrapped, self.optimizer = self.accelerator.prepare(network, optimizer)

    @abstractmethod
    def loss(self, network: nn.Module, documents: Sequence[int], step: int) -> Tensor:
        """Return this process's share of a step's loss.

        Args:
            network: What `begin` took, to be called as a module: gradients meet those of other processes there.
            documents: This process's documents of the step, their numbers.
            step: The step, from 0.
        """

    def names(self, documents: Sequence[int]) -> str:
        """Return the names of training documents, for an error."""
        return ", ".join(self.train[index].document.id for index in documents)

    @abstractmethod
    def validate(self) -> dict[str, float]:
        """Return the validation's figures with the averaged weights."""

    @abstractmethod
    def summary(self, entry: Round) -> float:
        """Return what rounds are chosen by; more is better."""

    @abstractmethod
    def save(self, folder: Path) -> None:
        """Write the model with the averaged weights to a folder."""

    @abstractmethod
    def card(self) -> str:
        """Return the model card."""

    @property
    def weights(self) -> dict[str, Tensor]:
        """The averaged weights, as `state_dict` gives them."""
        return self.average or self.network.state_dict()

    @property
    def best(self) -> Round:
        """The round whose weights are kept."""
        return max(self.log, key=self.summary)

    @property
    def over(self) -> bool:
        """Whether there is nothing left to train."""
        patience = self._settings.patience
        late = len(self.log) - 1 - self.log.index(self.best) if self.log else 0
        return self._done() >= self.steps or (patience is not None and late >= patience)

    def run(self, report: Report) -> Round:
        """Train to the end; return the best round, whose weights are in `folder / 'best'`."""
        main = self.accelerator.is_main_process
        board = Board(self.folder / "tensorboard", self._done(), report) if main and not self.over else None
        while not self.over:
            first = self._done()
            after = min(self.steps, first + (self._settings.validate_every or self.batches.steps))
            loss = self._train(first, after, report)
            if main:
                self._finish(after, loss)
            entry = self._shared(self.log[-1] if main else None)
            if main:
                report(f"step {after}/{self.steps} loss {entry.loss} validation {entry.validation}")
            else:
                self.log.append(entry)
            if board is not None:
                figures = {f"validation/{name}": value for name, value in entry.validation.items()}
                rate = self.optimizer.param_groups[0]["lr"]
                board.add(figures | {"train/loss": entry.loss, "train/rate": rate}, after)
        return self.best

    def _shared(self, entry: Round | None) -> Round:
        """Return the first process's round, in all processes."""
        from accelerate.utils import broadcast_object_list

        entries = [entry]
        broadcast_object_list(entries)
        assert entries[0] is not None, "the first process made it"
        return entries[0]

    def _check_together(self) -> None:
        """Check that all processes go on from the same step.

        Raises:
            InputError: They do not, since some do not see the run's folder.
        """
        steps = torch.tensor([self._done()], device=self.accelerator.device)
        found = sorted(set(self.accelerator.gather(steps).tolist()))
        if len(found) > 1:
            raise InputError(
                f"{self.folder}: expected all processes to go on from one step, got the steps {found}; put the run "
                "where every machine sees it"
            )

    def _done(self) -> int:
        return self.log[-1].steps if self.log else 0

    def _train(self, first: int, after: int, report: Report) -> float:
        """Take the steps from `first` to before `after`; return their mean loss."""
        recipe, processes = self._settings, self.accelerator
        # Seeded anew after each validation: an interrupted run goes on exactly as an undisturbed one.
        torch.manual_seed((recipe.seed * 1_000_003 + first) * 1_009 + processes.process_index)
        self._wrapped.train()
        started, total = time.monotonic(), 0.0
        for step in range(first, after):
            factor = rate_factor(step / self.steps, recipe.warmup, self.steps, recipe.schedule)
            for group in self.optimizer.param_groups:
                group["lr"] = group["peak"] * factor
            chosen = self.batches[step].tolist()
            with processes.autocast():
                loss = self.loss(self._wrapped, chosen[processes.process_index :: processes.num_processes], step)
            # Gradients are averaged over processes, this is their sum.
            value = float(processes.reduce(loss.detach(), reduction="mean"))
            if not np.isfinite(value):
                raise DiscsumError(f"step {step + 1}: the loss is {value} on {self.names(chosen)}")
            self.optimizer.zero_grad()
            processes.backward(loss)
            if recipe.clip:
                processes.clip_grad_norm_(self._wrapped.parameters(), recipe.clip)
            self.optimizer.step()
            if self.average:
                update_average(self.average, self.network, step, recipe.average)
            total += value
            rate = (step + 1 - first) / (time.monotonic() - started)
            report(f"step {step + 1}/{self.steps} loss {value:.4f}, {rate:.1f} steps a second\r")
        return total / (after - first)

    def _finish(self, steps: int, loss: float) -> None:
        """Validate after that many steps, and keep what was reached."""
        entry = Round(steps, round(loss, 4), self.validate())
        if not all(np.isfinite(value) for value in entry.validation.values()):
            raise DiscsumError(f"step {steps}: the validation gave {entry.validation}")
        better = all(self.summary(entry) > self.summary(earlier) for earlier in self.log)
        self.log.append(entry)
        if better:
            # Weights and card together, or neither.
            with replacing_folder(self.folder / BEST) as new:
                self.save(new)
                (new / CARD).write_text(self.card(), encoding="utf-8")
        written = [asdict(item) for item in self.log]
        state = {"log": written, "recipe": self._settings.to_dict(), "data": self._data}
        save_checkpoint(self.folder, self.network, self.average, self.optimizer.optimizer, state)
        with replacing(self.folder / LOG) as path:
            path.write_text(json.dumps(written, indent=1) + "\n", encoding="utf-8")
        with replacing(self.folder / BEST / CARD) as path:
            path.write_text(self.card(), encoding="utf-8")
