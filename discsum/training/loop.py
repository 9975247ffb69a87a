"""The training loop of every task: on any number of processes, resumable after every validation."""

from __future__ import annotations

import json
import math
import random
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import torch

from discsum.errors import DiscsumError, InputError
from discsum.files import clear_unfinished, replacing
from discsum.persistence import check_finite
from discsum.training.best_weights import BestWeights
from discsum.training.checkpoint import CARD_ONLY, earlier_state, load_checkpoint, save_checkpoint
from discsum.training.sampling import Batches
from discsum.training.schedule import plateau_factor, rate_factor, update_average
from discsum.training.task import LogEntry, Report, Step, TrainingTask
from discsum.training.tensorboard_log import TensorBoardLog

LOG = "log.json"
LOSS = "loss"


class TrainingLoop:
    """Trains a task in a folder and keeps the weights of the best validation in its folder `best`.

    Attributes:
        batches: The documents of each step.
        steps: Steps over which the learning rate rises and falls.
        end: Last step of the run, unless patience ends it earlier.
        report: Receives progress lines.
        log: The validations so far.
        average: The running average of the weights, keyed as `state_dict`; empty if the recipe averages nothing.
    """

    def __init__(self, task: TrainingTask[Any, Any], folder: Path, report: Report = lambda line: None) -> None:
        """Prepare a run in `folder`, or resume the run there.

        Raises:
            InputError: The run in the folder has another recipe or other documents, or lacks its best weights.
            WeightsError: A damaged checkpoint, or damaged best weights.
        """
        self.task, self.recipe, self.folder = task, task.recipe, folder
        self.accelerator, self.report = task.accelerator, report
        recipe, network = self.recipe, task.network
        self.batches = Batches(
            task.train.lengths, task.train.weights, recipe.batch_size, recipe.seed, task.train.blocks
        )
        self.steps: int = recipe.steps or recipe.epochs * self.batches.steps
        self.end = min(self.steps, recipe.stop_after * self.batches.steps or self.steps)
        self.log: list[LogEntry] = []
        clear_unfinished(folder)
        groups = [{**group, "peak": group["lr"]} for group in task.parameter_groups()]
        optimizer = task.optimizer(groups)
        state = earlier_state(folder, recipe.to_dict())
        if state is None:
            task.start(report)
        # Without a decay the average equals the weights, which need no copy.
        averaged = network.state_dict() if recipe.average else {}
        self.average = {key: value.detach().clone() for key, value in averaged.items()}
        if state is not None:
            if state["data"] != task.digest:
                digests = zip(("training", "validation"), state["data"].split(), task.digest.split(), strict=False)
                changed = " and ".join(name for name, there, here in digests if there != here)
                raise InputError(
                    f"{folder}: expected the {changed or 'same'} data that the run began with (documents, their "
                    "parses, pseudo-labels of teachers), found different data; choose another folder"
                )
            tensors = load_checkpoint(folder, network, self.average, optimizer)
            task.load_state(state["task"] | tensors)
            if self.accelerator.scaler is not None and state.get("scaler"):
                self.accelerator.scaler.load_state_dict(state["scaler"])
            self.log = [LogEntry(**entry) for entry in state["log"]]
        self._card_is_old = state is not None and any(
            state["recipe"].get(field) != recipe.to_dict().get(field) for field in CARD_ONLY
        )
        self._weights = BestWeights(folder, {} if state is None else state.get("best_sums", {}))
        if self.accelerator.is_main_process:
            self._weights.recover()
        # Before `prepare`, in which processes wait for each other.
        self._check_together()
        if state is not None:
            self._weights.check_there(self.best.steps)
            self._weights.check(self.best.steps)
        if not self.finished:
            task.prepare(report)
        if state is None and self.accelerator.is_main_process:
            count = sum(one.numel() for one in network.parameters() if one.requires_grad)
            report(f"{len(task.train)} documents, {self.end} steps, {count:,} trained parameters")
        elif self.accelerator.is_main_process:
            report(f"{folder}: {'finished' if self.finished else 'resumed'} after {self._done()} of {self.end} steps")
        self._wrapped, self.optimizer = self.accelerator.prepare(network, optimizer)

    @property
    def best(self) -> LogEntry:
        """The best validation; the earliest of several equal ones."""
        return max(self.log, key=self.task.selection_score)

    @property
    def finished(self) -> bool:
        """Whether the run has reached its last step or exhausted its patience."""
        patience = self.recipe.patience
        late = len(self.log) - 1 - self.log.index(self.best) if self.log else 0
        return self._done() >= self.end or (patience is not None and late >= patience)

    def run(self) -> LogEntry:
        """Train to the end; return the best validation."""
        from accelerate.utils import broadcast_object_list

        main = self.accelerator.is_main_process
        board = None
        if main and not self.finished:
            board = TensorBoardLog(self.folder / "tensorboard", self._done(), self.report)
        while not self.finished:
            first, started = self._done(), time.monotonic()
            after = min(self.end, first + (self.recipe.validate_every or self.batches.steps))
            with _advice_on_memory(after):
                means = self._train(first, after)
                entries = [self._validate(after, means)] if main else [None]
            # Only the first process validates and sends its entry to all others.
            broadcast_object_list(entries)
            entry = entries[0]
            assert entry is not None, "the first process made it"
            self.log.append(entry)
            if main:
                self._save()
                figures = self.task.shown(entry.validation)
                seconds = round(time.monotonic() - started)
                self.report(f"step {after}/{self.end} loss {entry.loss} validation {figures} ({seconds} s)")
            if board is not None:
                curves = {f"validation/{name}": value for name, value in entry.validation.items()}
                curves |= {f"train/{name}": value for name, value in (entry.parts | {LOSS: entry.loss}).items()}
                board.add(curves | {"train/rate": self.optimizer.param_groups[0]["lr"]}, after)
        if main:
            # Not in the others, whose checksums date from the start of the run.
            self._weights.check(self.best.steps)
            if self._card_is_old:
                # No validation has written it since, if the run had finished before.
                self._weights.write_card(self.task.card(self.log, self.best))
        return self.best

    def _check_together(self) -> None:
        """Raise `InputError` if processes would resume from different steps: some do not see the run's folder."""
        steps = torch.tensor([self._done()], device=self.accelerator.device)
        found = sorted(set(self.accelerator.gather(steps).tolist()))
        if len(found) > 1:
            raise InputError(
                f"{self.folder}: expected all processes to resume from the same step, got the steps {found}; put the "
                "run in a folder that every machine can read"
            )

    def _done(self) -> int:
        return self.log[-1].steps if self.log else 0

    def _train(self, first: int, after: int) -> dict[str, float]:
        """Train from step `first` to step `after`, exclusive; return the mean losses by name."""
        recipe = self.recipe
        # Seeded anew after each validation, so that a resumed run equals an uninterrupted one.
        seed = (recipe.seed * 1_000_003 + first) * 1_009 + self.accelerator.process_index
        torch.manual_seed(seed)
        random.seed(seed)
        # For heads and models of others; discsum has generators of its own.
        np.random.seed(seed % 2**32)  # noqa: NPY002
        self._wrapped.train()
        lowered = plateau_factor([self.task.selection_score(entry) for entry in self.log], recipe.plateau)
        started, totals = time.monotonic(), dict[str, float]()
        for number in range(first, after):
            done = number / self.steps
            factor = lowered * rate_factor(done, recipe.warmup, self.steps, recipe.schedule)
            for group in self.optimizer.param_groups:
                group["lr"] = group["peak"] * factor
            self.optimizer.zero_grad()
            losses = self._gradients(Step(number, number / self.batches.steps, done))
            self._clip(number)
            self.optimizer.step()
            if self.average:
                update_average(self.average, self.task.network, number, recipe.average)
            totals = {name: totals.get(name, 0.0) + value for name, value in losses.items()}
            # The clock of Windows may not have moved since.
            rate = (number + 1 - first) / max(time.monotonic() - started, 1e-6)
            self.report(f"step {number + 1}/{self.end} loss {losses[LOSS]:.4f}, {rate:.1f} steps a second\r")
        return {name: round(total / (after - first), 4) for name, total in totals.items()}

    def _gradients(self, step: Step) -> dict[str, float]:
        """Accumulate the gradients of a step's parts; return the step's losses by name."""
        processes, count = self.accelerator, self.recipe.accumulate
        chosen: list[int] = self.batches[step.number].tolist()
        whole = [chosen[part::count] for part in range(count)]
        own = [documents[processes.process_index :: processes.num_processes] for documents in whole]
        losses: dict[str, float] = {}
        for place, batch in enumerate(self.task.batches(own, step)):
            # Processes exchange gradients only once per step.
            with nullcontext() if place == count - 1 else processes.no_sync(self._wrapped):
                with processes.autocast():
                    found = self.task.loss(self._wrapped, batch)
                # Report the mean over processes because gradients are averaged over them too.
                values = processes.reduce(torch.stack([one.detach().float() for one in found.values()]), "mean")
                for name, value in zip(found, values.tolist(), strict=True):
                    losses[name] = losses.get(name, 0.0) + value
                if not np.isfinite(losses[LOSS]):
                    raise self._diverged(step.number, "loss", losses[LOSS], whole[place])
                processes.backward(found[LOSS])
        return losses

    def _clip(self, number: int) -> None:
        """Limit the norm of the gradients of a step to the recipe's `max_grad_norm`; 0 leaves them as they are.

        A loss can be finite where its gradient is not. The next step's loss would then be NaN, on other documents.

        Raises:
            DiscsumError: The norm is not finite.
        """
        norm = self.accelerator.clip_grad_norm_(self._wrapped.parameters(), self.recipe.max_grad_norm or math.inf)
        # Under float16 the gradients of some steps overflow; the gradient scaler of accelerate skips these steps.
        if not torch.isfinite(norm) and self.accelerator.scaler is None:
            raise self._diverged(number, "norm of the gradients", norm.item(), self.batches[number].tolist())

    def _diverged(self, number: int, what: str, value: float, places: Sequence[int]) -> DiscsumError:
        """Return the error for a loss or norm that is not finite, at a step, on the training documents at `places`."""
        names = ", ".join(self.task.train.ids(places))
        return DiscsumError(
            f"step {number + 1}: the {what} is {value} on {names}; expected a number: check these documents, or lower "
            "learning_rate"
        )

    def _validate(self, steps: int, means: dict[str, float]) -> LogEntry:
        """Validate after `steps` steps; keep the weights if they are the best, otherwise check that those are there."""
        task = self.task
        with self._averaged():
            task.network.eval()
            check_finite(task.network.state_dict().items(), f"step {steps}: training diverged, lower learning_rate")
            parts = {name: value for name, value in means.items() if name != LOSS}
            entry = LogEntry(steps, means[LOSS], task.validate(), parts)
            if not all(np.isfinite(value) for value in entry.validation.values()):
                raise DiscsumError(
                    f"step {steps}: the validation gave {entry.validation}, expected numbers; lower learning_rate"
                )
            if all(task.selection_score(entry) > task.selection_score(earlier) for earlier in self.log):
                self._weights.stage(task.save, lambda: task.card([*self.log, entry], entry))
            else:
                # Not only at the end of the run, hours later.
                self._weights.check_there(self.best.steps)
        return entry

    def _save(self) -> None:
        """Write the log, the card with the newest figures, and the checkpoint.

        A run that is killed before the checkpoint is written validates again and rewrites all three; a run that is
        killed afterwards has all of them, and better weights are adopted when it resumes, if they were not yet.
        """
        log = [asdict(entry) for entry in self.log]
        with replacing(self.folder / LOG) as path:
            path.write_text(json.dumps(log, indent=1) + "\n", encoding="utf-8")
        self._weights.write_card(self.task.card(self.log, self.best))
        state = {"log": log, "recipe": self.recipe.to_dict(), "data": self.task.digest, "best_sums": self._weights.sums}
        if self.accelerator.scaler is not None:
            # Of float16: it grows and shrinks over the whole run.
            state["scaler"] = self.accelerator.scaler.state_dict()
        network, optimizer = self.task.network, self.optimizer.optimizer
        save_checkpoint(self.folder, network, self.average, optimizer, state, self.task.state())
        self._weights.adopt()

    @contextmanager
    def _averaged(self) -> Iterator[None]:
        """Let the network use its averaged weights inside the block."""
        if not self.average:
            yield
            return
        network = self.task.network
        own = {name: value.detach().clone() for name, value in network.state_dict().items()}
        network.load_state_dict(self.average)
        try:
            yield
        finally:
            network.load_state_dict(own)


@contextmanager
def _advice_on_memory(after: int) -> Iterator[None]:
    """Turn a lack of memory before the end of the validation after step `after` into an error with a remedy."""
    try:
        yield
    except (MemoryError, RuntimeError) as error:
        # On a CPU, torch raises a plain RuntimeError, whose words depend on the system.
        if not isinstance(error, (MemoryError, torch.OutOfMemoryError)) and "DefaultCPUAllocator" not in str(error):
            raise
        raise DiscsumError(
            f"expected enough memory to train and validate up to step {after}, got too little ({error}); repeat the "
            "command where more is free, or start in another folder with more accumulate or less batch_size"
        ) from error
