"""What training an abstractive summarizer is: its model, its objective, and what it is chosen by."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from discsum.abstractive.folder import SelectorConfig, trained_selector
from discsum.abstractive.sparse.conversion import sparsify
from discsum.abstractive.sparse.selectors import sentence_encoders
from discsum.abstractive.summarizer import AbstractiveSummarizer
from discsum.abstractive.training.card import abstractive_card
from discsum.abstractive.training.encoding import TextBatch, encode
from discsum.abstractive.training.noise import noised
from discsum.abstractive.training.objective import IGNORED, Loss, Objective, reads_ideal, step_loss, trained_parameters
from discsum.abstractive.training.pairs import PairExample
from discsum.abstractive.training.recipe import AbstractiveRecipe
from discsum.abstractive.training.scratch import make_model, make_tokenizer
from discsum.data.examples import Collection
from discsum.errors import InputError
from discsum.training.task import LogEntry, Step, TrainingTask

# A word is about so many tokens, for texts that are cut to a number of tokens before they are encoded.
TOKENS_A_WORD = 1.6


class ObjectiveStep(nn.Module):
    """A model whose forward pass gives the parts of its loss."""

    def __init__(self, model: Any, objective: Objective, r: int) -> None:
        """Keep a sparse model and what it is trained by."""
        super().__init__()
        self.model, self.objective, self.r = model, objective, r

    def forward(self, batch: TextBatch, ideal: Tensor) -> Loss:
        """Return the loss of a batch; `(documents,)` `ideal` says which are read by their ideal sentences."""
        return step_loss(self.model, batch.inputs, batch.layout, self.objective, self.r, ideal)


@dataclass(frozen=True)
class WeightedBatch:
    """This process's documents of a part of a step.

    Attributes:
        batch: The documents and summaries.
        ideal: `(documents,)` which are read by their ideal sentences.
        share: The batch's share of the whole step's tokens, times the number of processes.
    """

    batch: TextBatch
    ideal: Tensor
    share: Tensor


class AbstractiveTask(TrainingTask[AbstractiveRecipe, Collection[PairExample]]):
    """Learns to write summaries; the weights of the least validation loss are kept."""

    def __init__(
        self,
        recipe: AbstractiveRecipe,
        train: Collection[PairExample],
        validation: Collection[PairExample],
        name: str,
        notes: str = "",
        report: Callable[[str], None] = lambda line: None,
    ) -> None:
        """Load or make the model.

        Args:
            recipe: All settings.
            train: Documents to learn from; the recipe's sample is drawn of them.
            validation: Documents to choose by.
            name: The model's name.
            notes: For its card.
            report: Takes lines of progress.

        Raises:
            InputError: Validation documents among those to learn from, or nothing to train.
            WeightsError: No such model to begin with.
        """
        super().__init__(recipe, train.sampled(recipe.sample, recipe.draw) if recipe.sample else train, validation)
        self.validation, self.name, self.notes = validation, name, notes
        torch.manual_seed(recipe.seed)
        self.summarizer = self._begun(report if self.accelerator.is_main_process else lambda line: None)
        self._parameters = trained_parameters(self.summarizer.model, recipe.objective)
        self.network = self.step = ObjectiveStep(self.summarizer.model, recipe.objective, recipe.r)

    def parameter_groups(self) -> list[dict[str, Any]]:
        """Return the parameters that are trained.

        Without decay AdamW is the Adam that Manakul and Gales 2021, appendix A.3, have.
        """
        return [{"params": self._parameters, "lr": self.recipe.rate}]

    def batches(self, parts: Sequence[Sequence[int]], step: Step) -> list[WeightedBatch]:
        """Return the documents and summaries of each part, encoded."""
        found, ideal = [], []
        for part in parts:
            # By document: the same however many processes there are, and in a run that goes on.
            random = [np.random.default_rng([self.recipe.seed, step.number, index]) for index in part]
            batch = self._batch([self.train[index] for index in part], random)
            found.append(batch.to(self.accelerator.device))
            chances = torch.tensor([one.random() for one in random])
            ideal.append(reads_ideal(self.recipe.objective, min(1.0, step.passes), chances))
        # All parts of the loss are means over tokens, which several processes and parts of a step share.
        tokens = [(batch.inputs["labels"] != IGNORED).sum() for batch in found]
        whole: Any = self.accelerator.reduce(torch.stack(tokens).sum().float(), reduction="mean")
        return [WeightedBatch(*one) for one in zip(found, ideal, (count / whole for count in tokens), strict=True)]

    def loss(self, network: nn.Module, batch: WeightedBatch) -> dict[str, Tensor]:
        """Return the batch's part of the mean loss of a token over the whole step."""
        found: Loss = network(batch.batch, batch.ideal)
        return {"loss": found.total * batch.share}

    @torch.inference_mode()
    def validate(self) -> dict[str, float]:
        """Return the mean loss of a validation token and its parts, in nats; what is masked is always the same.

        Mixed training reads the selector's sentences here, as it will when it is used.
        """
        totals, tokens = np.zeros(4), 0
        for start in range(0, len(self.validation), self.recipe.batch):
            chosen = range(start, min(start + self.recipe.batch, len(self.validation)))
            random = [np.random.default_rng(index) for index in chosen]
            batch = self._batch([self.validation[index] for index in chosen], random)
            ideal = torch.full((len(chosen),), self.recipe.objective.mode == "int-idl")
            found = self.step(batch.to(self.accelerator.device), ideal)
            parts = (found.total, found.words, found.entropy, found.divergence)
            count = int((batch.inputs["labels"] != IGNORED).sum())
            totals += count * np.array([float(part) for part in parts])
            tokens += count
        means = (totals / tokens).tolist()
        named = dict(zip(("loss", "words", "entropy", "divergence"), means, strict=True))
        return {name: round(value, 4) for name, value in named.items() if name in self._parts()}

    def selection_score(self, entry: LogEntry) -> float:
        """Return the validation loss, less of which is better."""
        return -entry.validation.get("loss", float("inf"))

    def save(self, folder: Path) -> None:
        """Write the model with its tokenizer and selector."""
        self.summarizer.save_pretrained(folder)

    def card(self, log: Sequence[LogEntry], best: LogEntry) -> str:
        """Return the model card."""
        return abstractive_card(self.name, self.recipe, log, best, self.notes)

    def _parts(self) -> tuple[str, ...]:
        mode = self.recipe.objective.mode
        if mode == "full":
            return ("loss",)
        return ("loss", "words", "entropy") if mode == "sparsity" else ("loss", "words", "divergence")

    def _begun(self, report: Callable[[str], None]) -> AbstractiveSummarizer:
        """Return the model that the run begins with."""
        recipe, device = self.recipe, str(self.accelerator.device)
        r = recipe.r if recipe.objective.selects else None
        if recipe.model is not None:
            return self._loaded(recipe.model, r, device, report)
        texts = (self.train[index].document.text for index in range(len(self.train)))
        tokenizer = make_tokenizer(texts, recipe.scratch.vocabulary)
        model = make_model(recipe.scratch, tokenizer).to(device)
        config = SelectorConfig(recipe.selector, r, recipe.beta, options=recipe.options)
        sparsify(model, selector=recipe.selector, r=r, beta=recipe.beta, **recipe.options)
        return AbstractiveSummarizer(model, tokenizer, self.name, config)

    def _loaded(self, name: str, r: int | None, device: str, report: Callable[[str], None]) -> AbstractiveSummarizer:
        """Return a model of a folder or the hub, with the selector that it was trained with if it is this one."""
        recipe = self.recipe
        own = trained_selector(name)
        kept = own is not None and own.config.selector == recipe.selector
        if recipe.selector in sentence_encoders() and not kept:
            if recipe.objective.integrated:
                raise InputError(
                    f"model: expected one whose selector {recipe.selector} was trained, for the mode "
                    f"{recipe.objective.mode}, got {name}; train it first, as manakul2021/kl does"
                )
            report(f"{name}: the selector {recipe.selector} begins anew")
        # What training made of the prior's weight goes on.
        beta = None if own is not None and kept and own.config.beta is not None else recipe.beta
        summarizer = AbstractiveSummarizer.from_pretrained(
            name, selector=recipe.selector, r=r, beta=beta, device=device, untrained=True, **recipe.options
        )
        for option, asked, most in (
            ("source_tokens", recipe.source_tokens, summarizer.positions),
            ("target_tokens", recipe.target_tokens, summarizer.target_positions),
        ):
            if most is not None and asked > most:
                raise InputError(f"{option}: expected at most {most}, the positions of {name}, got {asked}")
        summarizer.selector = replace(summarizer.selector, r=r)
        return summarizer

    def _batch(self, examples: Sequence[PairExample], random: Sequence[np.random.Generator]) -> TextBatch:
        recipe, tokenizer = self.recipe, self.summarizer.tokenizer
        if recipe.task != "summarize":
            shuffle = recipe.task == "denoise"
            words = int(recipe.source_tokens / TOKENS_A_WORD)
            pairs = [
                noised(example.document, words, tokenizer.mask_token, chance, shuffle=shuffle)
                for example, chance in zip(examples, random, strict=True)
            ]
        else:
            pairs = [
                (example.document, " ".join(example.references[chance.integers(len(example.references))].split()))
                for example, chance in zip(examples, random, strict=True)
            ]
        documents, targets = zip(*pairs, strict=True)
        prior = self.summarizer.selector.beta is not None
        lengths = recipe.source_tokens, recipe.target_tokens
        return encode(self.summarizer.model, tokenizer, documents, targets, *lengths, prior=prior)
