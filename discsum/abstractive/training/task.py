"""Training task of abstractive summarizers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from discsum.abstractive.families import family_class
from discsum.abstractive.family import IGNORED, Family
from discsum.abstractive.recipe import AbstractiveRecipe
from discsum.abstractive.summarizer import AbstractiveSummarizer
from discsum.abstractive.training.card import abstractive_card
from discsum.abstractive.training.encoding import TextBatch, encode, noised
from discsum.abstractive.training.pairs import PairExample
from discsum.data.examples import Collection
from discsum.document import Document
from discsum.errors import InputError
from discsum.training.task import LogEntry, Step, TrainingTask

# Mean number of tokens per word: noise is applied to a number of words, before tokenization.
TOKENS_A_WORD = 1.6


class ObjectiveStep(nn.Module):
    """A model whose forward pass returns the loss and its parts."""

    def __init__(self, family: Family[Any], recipe: AbstractiveRecipe) -> None:
        """Keep the model and its settings."""
        super().__init__()
        self.model, self.family, self.recipe = family.model, family, recipe

    def forward(self, batch: TextBatch, done: float, chances: Tensor) -> dict[str, Tensor]:
        """Return `Family.loss` of a batch."""
        return self.family.loss(self.recipe, batch.inputs, batch.extra, done, chances)


@dataclass(frozen=True)
class WeightedBatch:
    """The documents of a part of a step in this process.

    Attributes:
        batch: The documents and summaries.
        done: Completed share of the first epoch.
        chances: `(documents,)` uniform random numbers for the loss.
        share: The batch's share of the whole step's tokens, times the number of processes.
    """

    batch: TextBatch
    done: float
    chances: Tensor
    share: Tensor


class AbstractiveTask(TrainingTask[AbstractiveRecipe, Collection[PairExample]]):
    """Trains an abstractive summarizer; the weights with the lowest validation loss are kept."""

    def __init__(
        self,
        recipe: AbstractiveRecipe,
        train: Collection[PairExample],
        validation: Collection[PairExample],
        name: str,
        notes: str = "",
        report: Callable[[str], None] = lambda line: None,
    ) -> None:
        """Load or make the model; `name` and `notes` are for its card, `report` receives lines of progress.

        Raises:
            InputError: Validation documents among the training documents, or a model that the recipe does not fit.
            WeightsError: The recipe's model does not exist.
        """
        super().__init__(recipe, train.sampled(recipe.sample, recipe.sample_seed), validation)
        self.validation, self.name, self.notes = validation, name, notes
        torch.manual_seed(recipe.seed)
        say = report if self.accelerator.is_main_process else lambda line: None
        family_type = family_class(recipe.family)
        self.family: Family[Any] = family_type.for_training(recipe, str(self.accelerator.device), self._texts, say)
        # Small updates would be lost in half precision, in which transformers loads a model that was saved so.
        self.family.model.float()
        # Processes would drop layers independently of each other, and wait for gradients that some do not have.
        for module in self.family.model.modules():
            if hasattr(module, "layerdrop"):
                module.layerdrop = 0.0
        self.summarizer = AbstractiveSummarizer(self.family)
        if recipe.task != "summarize" and self.summarizer.tokenizer.mask_token is None:
            raise InputError(
                f"task: expected a model whose tokenizer has a mask token for {recipe.task}, got {self.family.name} "
                "without one; use task=summarize, or start from a model such as hf:facebook/bart-large"
            )
        limits = {"source_tokens": self.summarizer.positions, "target_tokens": self.summarizer.target_positions}
        for option, limit in limits.items():
            value = getattr(recipe, option)
            if limit is not None and value > limit:
                raise InputError(f"{option}: expected at most {limit}, the positions of {recipe.model}, got {value}")
        self._groups = self.family.parameter_groups(recipe)
        self.network = self.step = ObjectiveStep(self.family, recipe)

    def parameter_groups(self) -> list[dict[str, Any]]:
        """Return the parameters that the family trains."""
        return self._groups

    def optimizer(self, groups: list[dict[str, Any]]) -> torch.optim.Optimizer:
        """Return the recipe's optimiser."""
        if self.recipe.optimizer == "sgd":
            return torch.optim.SGD(groups, weight_decay=self.recipe.weight_decay)
        return super().optimizer(groups)

    def batches(self, parts: Sequence[Sequence[int]], step: Step) -> list[WeightedBatch]:
        """Return the documents and summaries of each part, encoded."""
        self.family.begin_step(self.recipe, step)
        encoded, chances = [], []
        for part in parts:
            # Seeded by document: independent of the number of processes and of resuming.
            random = [np.random.default_rng([self.recipe.seed, step.number, index]) for index in part]
            batch = self._batch([self.train[index] for index in part], random)
            encoded.append(batch.to(self.accelerator.device))
            chances.append(torch.tensor([one.random() for one in random]))
        # The loss of a batch is a mean over its tokens. Weight it by its share of the tokens of the whole step.
        counts = [(batch.inputs["labels"] != IGNORED).sum() for batch in encoded]
        whole: Any = self.accelerator.reduce(torch.stack(counts).sum().float(), reduction="mean")
        done = min(1.0, step.passes)
        return [
            WeightedBatch(batch, done, own, count / whole)
            for batch, own, count in zip(encoded, chances, counts, strict=True)
        ]

    def loss(self, network: nn.Module, batch: WeightedBatch) -> dict[str, Tensor]:
        """Return the batch's part of the mean per token of the whole step: of the loss and of its parts."""
        losses: dict[str, Tensor] = network(batch.batch, batch.done, batch.chances)
        return {name: value * batch.share for name, value in losses.items()}

    @torch.inference_mode()
    def validate(self) -> dict[str, float]:
        """Return the mean loss per validation token and its parts, in nats; masks are the same in every validation.

        The loss is the objective's at the end of the first epoch, without dropout: of the integrated modes of sparse
        models, `int-idl` reads the ideal sentences and the others those of the selector. Coarse-to-fine models choose
        chunks as in inference.
        """
        totals: dict[str, float] = {}
        tokens = 0
        # As many at once as a process trains on.
        size = max(1, self.recipe.batch_size // (self.recipe.accumulate * self.accelerator.num_processes))
        for start in range(0, len(self.validation), size):
            chosen = range(start, min(start + size, len(self.validation)))
            random = [np.random.default_rng(index) for index in chosen]
            batch = self._batch([self.validation[index] for index in chosen], random)
            # In full precision: `prepare` replaces `forward` of this instance by one that may compute in bfloat16.
            losses = ObjectiveStep.forward(self.step, batch.to(self.accelerator.device), 1.0, torch.zeros(len(chosen)))
            count = int((batch.inputs["labels"] != IGNORED).sum())
            for name, value in losses.items():
                totals[name] = totals.get(name, 0.0) + count * float(value)
            tokens += count
        return {name: round(total / tokens, 4) for name, total in totals.items()}

    def selection_score(self, entry: LogEntry) -> float:
        """Return the negative validation loss."""
        return -entry.validation.get("loss", float("inf"))

    def save(self, folder: Path) -> None:
        """Write the model with its tokenizer and its family's files."""
        self.summarizer.save_pretrained(folder)

    def card(self, log: Sequence[LogEntry], best: LogEntry) -> str:
        """Return the model card."""
        return abstractive_card(self.name, self.recipe, self.family.card(self.recipe), log, best, self.notes)

    def state(self) -> dict[str, Any]:
        """Return the state of the family."""
        return self.family.state()

    def load_state(self, state: dict[str, Any]) -> None:
        """Restore the state of the family."""
        self.family.load_state(state)

    def _texts(self) -> Iterator[str]:
        """Yield the text of every training document."""
        return (self.train[index].document.text for index in range(len(self.train)))

    def _batch(self, examples: Sequence[PairExample], random: Sequence[np.random.Generator]) -> TextBatch:
        documents, targets = zip(*map(self._pair, examples, random), strict=True)
        limits = self.recipe.source_tokens, self.recipe.target_tokens
        return encode(self.family, documents, targets, *limits)

    def _pair(self, example: PairExample, random: np.random.Generator) -> tuple[Document, str]:
        """Return the input document and the target text."""
        if self.recipe.task == "summarize":
            most = self.recipe.target_lines
            if most is None:
                reference = example.references[random.integers(len(example.references))]
            else:
                reference = "\n".join([line for line in example.references[0].splitlines() if line.strip()][:most])
            return example.document, self.family.target(reference)
        words, shuffle = int(self.recipe.source_tokens / TOKENS_A_WORD), self.recipe.task == "denoise"
        return noised(example.document, words, self.summarizer.tokenizer.mask_token, random, shuffle=shuffle)
