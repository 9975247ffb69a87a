"""The training loop of the extractive summarizer: on any number of processes, resumable after every validation."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

import discsum
from discsum.encoder.features import COUNT
from discsum.encoder.synthesizer import Synthesizer
from discsum.errors import DiscsumError, InputError
from discsum.files import replacing
from discsum.persistence import CARD
from discsum.summarizer import ExtractiveSummarizer
from discsum.summarizer_folder import SummarizerConfig
from discsum.training.card import summarizer_card
from discsum.training.checkpoint import check_data, earlier_state, load_checkpoint, save_checkpoint
from discsum.training.examples import Batch, Collection, collate
from discsum.training.processes import accelerator
from discsum.training.recipe import SummarizerRecipe
from discsum.training.sampling import Batches
from discsum.training.schedule import rate_factor, update_average
from discsum.training.scorer import UnitScorer
from discsum.training.validation import score_examples

if TYPE_CHECKING:
    from discsum.parsers.unit_encoders import UnitEncoder

Report = Callable[[str], None]


@dataclass(frozen=True)
class Round:
    """What came out of the steps up to a validation.

    Attributes:
        steps: Steps of the run until then.
        loss: Mean training loss since the validation before.
        rouge: Validation ROUGE F1 in percent.
    """

    steps: int
    loss: float
    rouge: dict[str, float]


class SummarizerTrainer:
    """Trains a summarizer; keeps the averaged weights that score best on validation."""

    def __init__(
        self,
        recipe: SummarizerRecipe,
        train: Collection,
        validation: Collection,
        folder: Path,
        name: str,
        notes: str = "",
        report: Report = lambda line: None,
    ) -> None:
        """Prepare a run in `folder`, or the rest of one that was interrupted there.

        Args:
            recipe: All settings.
            train: Documents to learn from.
            validation: Documents to choose by.
            folder: Where the run is kept.
            name: The model's name.
            notes: For its card.
            report: Takes lines of progress.

        Raises:
            InputError: The folder holds a run of another recipe or on other documents; or validation documents among
                those to learn from.
            WeightsError: A damaged checkpoint.
        """
        self.recipe, self.folder, self.notes = recipe, folder, notes
        self.train = train.sampled(recipe.sample, recipe.draw) if recipe.sample else train
        self.validation = validation
        shared = set(self.train.texts()) & set(validation.texts())
        if shared:
            raise InputError(f"expected no validation document among the training documents, got {len(shared)}")
        self.accelerator = accelerator(recipe.bf16)
        if recipe.batch < self.accelerator.num_processes:
            raise InputError(f"batch: expected a document for each of {self.accelerator.num_processes} processes")
        self.parser = discsum.Parser.from_pretrained(recipe.parser)
        device = self.accelerator.device
        encoder = self._encoder(device) if recipe.encodes else None
        made_by = {"encoder": encoder.fingerprint, "revision": encoder.revision} if encoder else self.train.encoder
        layers = recipe.encoder_layers
        self.config = SummarizerConfig(
            name,
            recipe.unit,
            recipe.vectors,
            **made_by,
            encoder_layers=layers,
            parser=recipe.parser,
            units=recipe.units,
        )
        torch.manual_seed(recipe.seed)
        width, features = encoder.width if encoder is not None else self.train.width, COUNT if recipe.features else 0
        network = Synthesizer(replace(recipe.synthesizer, width=width, features=features)).to(device)
        self.scorer = UnitScorer(network, encoder, recipe.unit)
        optimizer = self._optimizer()
        self.average = {key: value.detach().clone() for key, value in self.scorer.state_dict().items()}
        self.batches = Batches(self.train.lengths, self.train.weights, recipe.batch, recipe.seed)
        self.steps = recipe.steps or recipe.epochs * self.batches.steps
        self.log: list[Round] = []
        self._data = f"{self.train.digest} {validation.digest}"
        state = earlier_state(folder, recipe.to_dict())
        if state is not None:
            check_data(folder, state, self._data)
            load_checkpoint(folder, self.scorer, self.average, optimizer)
            self.log = [Round(**entry) for entry in state["log"]]
        elif self.accelerator.is_main_process:
            parameters = network.parameter_count()
            report(f"{len(self.train)} documents, {self.steps} steps, {parameters.whole:,} parameters")
        self._check_together()
        self._wrapped, self.optimizer = self.accelerator.prepare(self.scorer, optimizer)

    def run(self, report: Report) -> Round:
        """Train to the last step; return the best round, whose weights are in `folder / 'best'`."""
        writes = self.accelerator.is_main_process and self._done() < self.steps
        board = _board(self.folder, self._done()) if writes else None
        while self._done() < self.steps:
            first = self._done()
            after = min(self.steps, first + (self.recipe.validate_every or self.batches.steps))
            loss = self._train(first, after, report)
            if self.accelerator.is_main_process:
                entry = self._finish(after, loss)
                report(f"step {after}/{self.steps} loss {entry.loss} validation {entry.rouge}")
                if board is not None:
                    for metric, value in entry.rouge.items():
                        board.add_scalar(f"validation/{metric}", value, after)
                    board.add_scalar("train/loss", entry.loss, after)
                    board.add_scalar("train/rate", self.optimizer.param_groups[0]["lr"], after)
                    board.flush()
            else:
                self.log.append(Round(after, loss, {}))
            self.accelerator.wait_for_everyone()
        if board is not None:
            board.close()
        return self.best

    @property
    def best(self) -> Round:
        """The round whose weights are kept."""
        return max(self.log, key=self.summary)

    def summary(self, entry: Round) -> float:
        """Return what rounds are chosen by."""
        chosen = self.recipe.chosen_by
        return sum(entry.rouge.get(metric, 0.0) for metric in chosen) / len(chosen)

    def summarizer(self) -> ExtractiveSummarizer:
        """Return a summarizer with the averaged weights."""
        return self._summarizer(self.scorer.with_weights(self.average))

    def _summarizer(self, scorer: UnitScorer) -> ExtractiveSummarizer:
        return ExtractiveSummarizer(scorer.network, self.config, self.parser, scorer.layers.state_dict())

    def _encoder(self, device: torch.device) -> UnitEncoder:
        """Return what encodes units anew each step."""
        recipe = self.recipe
        self.parser.network.to(device)
        return discsum.unit_encoder(recipe.vectors, self.parser, layers=recipe.encoder_layers, dropout=True)

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

    def _optimizer(self) -> torch.optim.Optimizer:
        groups = [(self.scorer.network, self.recipe.rate), (self.scorer.layers, self.recipe.encoder_rate)]
        return torch.optim.AdamW(
            [
                {"params": list(part.parameters()), "lr": rate, "peak": rate}
                for part, rate in groups
                if any(True for _ in part.parameters())
            ],
            weight_decay=self.recipe.decay,
        )

    def _done(self) -> int:
        return self.log[-1].steps if self.log else 0

    def _train(self, first: int, after: int, report: Report) -> float:
        """Take the steps from `first` to before `after`; return their mean loss."""
        recipe, processes = self.recipe, self.accelerator
        # Seeded anew after each validation: an interrupted run goes on exactly as an undisturbed one.
        torch.manual_seed((recipe.seed * 1_000_003 + first) * 1_009 + processes.process_index)
        self._wrapped.train()
        started, total = time.monotonic(), 0.0
        for step in range(first, after):
            factor = rate_factor(step / self.steps, recipe.warmup, self.steps, recipe.schedule)
            for group in self.optimizer.param_groups:
                group["lr"] = group["peak"] * factor
            chosen = self.batches[step]
            own = chosen[processes.process_index :: processes.num_processes]
            batch = collate([self.train[int(index)] for index in own]).to(processes.device)
            with processes.autocast():
                logits = self._wrapped(batch)
            loss = self._loss(logits.float(), batch)
            # Gradients are averaged over processes, this is their sum.
            value = float(processes.reduce(loss.detach(), reduction="mean"))
            if not torch.isfinite(torch.tensor(value)):
                names = ", ".join(self.train[int(index)].document.id for index in chosen)
                raise DiscsumError(f"step {step + 1}: the loss is {value} on {names}")
            self.optimizer.zero_grad()
            processes.backward(loss)
            processes.clip_grad_norm_(self._wrapped.parameters(), 1.0)
            self.optimizer.step()
            update_average(self.average, self.scorer, step, recipe.average)
            total += value
            rate = (step + 1 - first) / (time.monotonic() - started)
            report(f"step {step + 1}/{self.steps} loss {value:.4f}, {rate:.1f} steps a second\r")
        return total / (after - first)

    def _loss(self, logits: Tensor, batch: Batch) -> Tensor:
        """Return the mean loss of a unit of all processes' documents, as this process's share of it times their number.

        The mean over processes, which is what gradients are, is then that of one process with the whole batch.
        """
        weight = torch.where(batch.labels > 0, self.recipe.positive_weight, 1.0) * batch.inputs.mask
        lead = (torch.arange(batch.labels.shape[1], device=logits.device) < self.recipe.units).float()
        targets = torch.lerp(batch.labels, lead.expand_as(batch.labels), self.recipe.lead)
        losses = torch.nn.functional.binary_cross_entropy_with_logits(logits, targets, reduction="none")
        whole: Any = self.accelerator.reduce(weight.sum(), reduction="sum")
        loss: Tensor = (losses * weight).sum() / whole * self.accelerator.num_processes
        return loss

    def _finish(self, steps: int, loss: float) -> Round:
        """Validate after that many steps, and keep what was reached."""
        scorer = self.scorer.with_weights(self.average)
        summarizer = self._summarizer(scorer)
        scores = score_examples(scorer, summarizer, summarizer.policy(), self.validation)
        entry = Round(steps, round(loss, 4), {key: round(100 * value, 2) for key, value in scores.mean.items()})
        if all(self.summary(entry) > self.summary(earlier) for earlier in self.log):
            summarizer.save_pretrained(self.folder / "best")
        self.log.append(entry)
        log = [vars(item) for item in self.log]
        state = {"log": log, "recipe": self.recipe.to_dict(), "data": self._data}
        save_checkpoint(self.folder, self.scorer, self.average, self.optimizer.optimizer, state)
        with replacing(self.folder / "log.json") as path:
            path.write_text(json.dumps(log, indent=1) + "\n", encoding="utf-8")
        with replacing(self.folder / "best" / CARD) as path:
            path.write_text(summarizer_card(self), encoding="utf-8")
        return entry


def _board(folder: Path, done: int) -> Any:
    """Return what writes TensorBoard's log of the run from that step on; none where TensorBoard is not installed."""
    try:
        from torch.utils.tensorboard import SummaryWriter
    except ImportError:
        return None
    return SummaryWriter(str(folder / "tensorboard"), purge_step=done + 1)
