"""The training loop of the extractive summarizer on frozen, cached unit vectors."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

import discsum
from discsum.encoder.features import COUNT
from discsum.encoder.inputs import batched
from discsum.encoder.synthesizer import Synthesizer
from discsum.errors import DiscsumError, InputError
from discsum.extract import extract
from discsum.files import replacing
from discsum.recipes.sources import Source
from discsum.rouge import RougeScores, rouge
from discsum.summarizer import ExtractiveSummarizer, SummarizerConfig
from discsum.training.checkpoint import check_data, earlier_state, load_checkpoint, save_checkpoint
from discsum.training.examples import Batch, Example, collate, digest, make_examples
from discsum.training.pairs import Pair
from discsum.training.recipe import SummarizerRecipe
from discsum.training.schedule import rate_factor, update_average

# Batches whose documents are sorted by length together.
GROUP = 16
Report = Callable[[str], None]
Reader = Callable[[Source], Sequence[Pair]]


@dataclass(frozen=True)
class Epoch:
    """One epoch's mean training loss and validation ROUGE F1 in percent."""

    epoch: int
    loss: float
    rouge: dict[str, float]

    @property
    def summary(self) -> float:
        """What the kept epoch is chosen by: the mean of ROUGE-1 and ROUGE-2."""
        return (self.rouge["rouge1"] + self.rouge["rouge2"]) / 2


class SummarizerTrainer:
    """Trains a summarizer, resumable after every epoch; keeps the averaged weights that score best on validation."""

    def __init__(self, recipe: SummarizerRecipe, read: Reader, folder: Path, name: str, report: Report) -> None:
        """Parse, encode and label the documents that `read` gives for each source, or take them from the cache.

        The cache is the folder `examples` beside `folder`, shared by all runs there. An interrupted run in
        `folder` is gone on with.

        Raises:
            InputError: The folder holds a run of another recipe or on other documents; no document to learn from; or
                validation documents among those to learn from.
            WeightsError: A damaged checkpoint.
        """
        self.recipe, self.folder = recipe, folder
        self.parser = discsum.Parser.from_pretrained(recipe.parser)
        self.config = SummarizerConfig(name, recipe.unit, recipe.vectors, recipe.parser, recipe.units)
        self.train = self._examples(recipe.train, read, report)
        self.validation = self._examples(recipe.validation, read, report)
        shared = {example.document.text for example in self.train} & {item.document.text for item in self.validation}
        if shared:
            raise InputError(f"expected no validation document among the training documents, got {len(shared)}")
        torch.manual_seed(recipe.seed)
        width = self.train[0].inputs.vectors.shape[1]
        self.network = Synthesizer(replace(recipe.synthesizer, width=width, features=COUNT if recipe.features else 0))
        self.optimizer = torch.optim.AdamW(self.network.parameters(), lr=recipe.rate, weight_decay=recipe.decay)
        self.average = {key: value.detach().clone() for key, value in self.network.state_dict().items()}
        self.log: list[Epoch] = []
        self._data = digest([*self.train, *self.validation])
        state = earlier_state(folder, recipe.to_dict())
        if state is not None:
            check_data(folder, state, self._data)
            load_checkpoint(folder, self.network, self.average, self.optimizer)
            self.log = [Epoch(**entry) for entry in state["log"]]

    def run(self, report: Report) -> Epoch:
        """Train to the last epoch; return the best one, whose weights are in `folder / 'best'`."""
        while len(self.log) < self.recipe.epochs:
            epoch = len(self.log) + 1
            self._finish(epoch, self._train_epoch(epoch), report)
        return max(self.log, key=lambda entry: entry.summary)

    def _train_epoch(self, epoch: int) -> float:
        recipe = self.recipe
        # Seeded anew each epoch: an interrupted run goes on exactly as an undisturbed one.
        random = np.random.default_rng([recipe.seed, epoch])
        torch.manual_seed(recipe.seed * 10_000 + epoch)
        steps = math.ceil(len(self.train) / recipe.batch)
        self.network.train()
        total = 0.0
        for step, chosen in enumerate(self._batches(random, steps)):
            done = (epoch - 1 + step / steps) / recipe.epochs
            for group in self.optimizer.param_groups:
                group["lr"] = recipe.rate * rate_factor(done, recipe.warmup, steps * recipe.epochs)
            batch = collate([self.train[index] for index in chosen])
            loss = self._loss(batch)
            if not torch.isfinite(loss):
                names = ", ".join(self.train[index].document.id for index in chosen)
                raise DiscsumError(f"epoch {epoch}, step {step + 1}: the loss is {loss.item()} on {names}")
            self.optimizer.zero_grad()
            loss.backward()  # type: ignore[no-untyped-call]
            torch.nn.utils.clip_grad_norm_(self.network.parameters(), 1.0)
            self.optimizer.step()
            update_average(self.average, self.network, (epoch - 1) * steps + step, recipe.average)
            total += loss.item()
        return total / steps

    def summarizer(self) -> ExtractiveSummarizer:
        """Return a summarizer with the averaged weights."""
        network = Synthesizer(self.network.config)
        network.load_state_dict(self.average)
        return ExtractiveSummarizer(network, self.config, self.parser)

    def _finish(self, epoch: int, loss: float, report: Report) -> None:
        summarizer = self.summarizer()
        scores = score_examples(summarizer, self.validation)
        entry = Epoch(epoch, round(loss, 4), {key: round(100 * value, 2) for key, value in scores.mean.items()})
        if all(entry.summary > earlier.summary for earlier in self.log):
            summarizer.save_pretrained(self.folder / "best")
        self.log.append(entry)
        log = [vars(item) for item in self.log]
        state = {"log": log, "recipe": self.recipe.to_dict(), "data": self._data}
        save_checkpoint(self.folder, self.network, self.average, self.optimizer, state)
        with replacing(self.folder / "log.json") as path:
            path.write_text(json.dumps(log, indent=1) + "\n", encoding="utf-8")
        report(f"epoch {epoch}/{self.recipe.epochs} loss {entry.loss} validation {entry.rouge}")

    def _batches(self, random: np.random.Generator, steps: int) -> list[NDArray[np.int64]]:
        """Return so many batches of documents drawn by weight, those of one batch of like length."""
        weights = np.array([example.weight for example in self.train])
        lengths = np.array([len(example.labels) for example in self.train])
        drawn = random.choice(len(self.train), steps * self.recipe.batch, p=weights / weights.sum())
        batches: list[NDArray[np.int64]] = []
        for group in np.split(drawn, range(GROUP * self.recipe.batch, len(drawn), GROUP * self.recipe.batch)):
            ordered = group[np.argsort(lengths[group], kind="stable")]
            batches += np.split(ordered, len(ordered) // self.recipe.batch)
        return [batches[index] for index in random.permutation(len(batches))]

    def _loss(self, batch: Batch) -> Tensor:
        logits = self.network(batch.inputs)
        weight = torch.where(batch.labels > 0, self.recipe.positive_weight, 1.0) * batch.inputs.mask
        lead = (torch.arange(batch.labels.shape[1]) < self.recipe.units).float()
        targets = torch.lerp(batch.labels, lead.expand_as(batch.labels), self.recipe.lead)
        losses = torch.nn.functional.binary_cross_entropy_with_logits(logits, targets, reduction="none")
        return (losses * weight).sum() / weight.sum()

    def _examples(self, sources: Sequence[Source], read: Reader, report: Report) -> list[Example]:
        examples = []
        for source in sources:
            made = make_examples(
                read(source),
                self.parser,
                self.config,
                self.recipe.synthesizer,
                (self.recipe.oracle, self.recipe.oracle_units),
                self.folder.parent / "examples",
                report,
            )
            found = [replace(example, weight=source.weight) for example in made]
            positive = sum(int(example.labels.sum()) for example in found) / max(1, len(found))
            report(f"{source.path}: {len(found)} documents, {positive:.1f} units in the oracle")
            examples += found
        if not examples:
            raise InputError("expected documents with text and references, got none")
        return examples


@torch.inference_mode()
def confidences(network: Synthesizer, examples: Sequence[Example], batch_size: int = 32) -> list[Tensor]:
    """Return each example's `(units,)` confidences."""
    results: list[Tensor] = []
    for start in range(0, len(examples), batch_size):
        block = examples[start : start + batch_size]
        logits = network(batched([example.inputs for example in block]))
        results += [torch.sigmoid(row[: len(item.labels)]) for row, item in zip(logits, block, strict=True)]
    return results


def score_examples(summarizer: ExtractiveSummarizer, examples: Sequence[Example]) -> RougeScores:
    """Return the ROUGE scores of a summarizer's summaries of the examples."""
    policy = summarizer.policy()
    summaries: list[Any] = [
        extract(example.document, summarizer, policy, scores=_padded(scores, len(example.document.units(policy.unit))))
        for example, scores in zip(examples, confidences(summarizer.network, examples), strict=True)
    ]
    return rouge(["\n".join(item.lines) for item in summaries], [list(example.references) for example in examples])


def _padded(scores: Tensor, units: int) -> NDArray[np.float64]:
    """Return the scores with zeros for the units beyond the section that examples hold."""
    values: NDArray[np.float64] = np.zeros(units)
    values[: len(scores)] = scores.double().numpy()
    return values
