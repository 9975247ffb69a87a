"""What training an extractive summarizer is: its network, its loss, and the ROUGE that it is chosen by."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from discsum.encoder.features import COUNT
from discsum.encoder.synthesizer import Synthesizer
from discsum.parsers.parser import Parser
from discsum.parsers.unit_encoders import UnitEncoder
from discsum.summarizer.extractive import ExtractiveSummarizer
from discsum.summarizer.folder import SummarizerConfig
from discsum.summarizer.training.card import summarizer_card
from discsum.summarizer.training.examples import Batch, Collection, collate
from discsum.summarizer.training.recipe import SummarizerRecipe
from discsum.summarizer.training.scorer import UnitScorer
from discsum.summarizer.training.validation import score_examples
from discsum.training.loop import Report, Round, TrainingRun


class SummarizerTrainer(TrainingRun):
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
        super().__init__(recipe, train, validation, folder, name, notes)
        self.recipe = recipe
        self.parser = Parser.from_pretrained(recipe.parser)
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
        self.begin(self.scorer, self._optimizer(), report)

    def loss(self, network: nn.Module, documents: Sequence[int], step: int) -> Tensor:
        """Return the loss of the documents' units."""
        batch = collate([self.train[index] for index in documents]).to(self.accelerator.device)
        return self.batch_loss(network(batch).float(), batch)

    def batch_loss(self, logits: Tensor, batch: Batch) -> Tensor:
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

    def validate(self) -> dict[str, float]:
        """Return ROUGE F1 of summaries of the validation documents, in percent."""
        scorer = self.scorer.with_weights(self.weights)
        summarizer = self._summarizer(scorer)
        scores = score_examples(scorer, summarizer, summarizer.policy(), self.validation)
        return {key: round(100 * value, 2) for key, value in scores.mean.items()}

    def summary(self, entry: Round) -> float:
        """Return what rounds are chosen by."""
        chosen = self.recipe.chosen_by
        return sum(entry.validation.get(metric, 0.0) for metric in chosen) / len(chosen)

    def save(self, folder: Path) -> None:
        """Write the summarizer."""
        self.summarizer().save_pretrained(folder)

    def card(self) -> str:
        """Return the model card."""
        return summarizer_card(self)

    def summarizer(self) -> ExtractiveSummarizer:
        """Return a summarizer with the averaged weights."""
        return self._summarizer(self.scorer.with_weights(self.weights))

    def _summarizer(self, scorer: UnitScorer) -> ExtractiveSummarizer:
        return ExtractiveSummarizer(scorer.network, self.config, self.parser, scorer.layers.state_dict())

    def _encoder(self, device: torch.device) -> UnitEncoder:
        """Return what encodes units anew each step."""
        recipe = self.recipe
        self.parser.network.to(device)
        return UnitEncoder.load(recipe.vectors, self.parser, layers=recipe.encoder_layers, dropout=True)

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
