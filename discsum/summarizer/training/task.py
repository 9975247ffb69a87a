"""Training task of extractive summarizers: network, loss, and validation by ROUGE."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from discsum.batches import batches
from discsum.constants import SUMMARIZER_KIND
from discsum.encoder.features import COUNT
from discsum.encoder.inputs import padded
from discsum.encoder.synthesizer import Synthesizer
from discsum.errors import WeightsError
from discsum.metrics.rouge import rouge
from discsum.parsers.loading import load_parser
from discsum.parsers.parser import Parser
from discsum.parsers.unit_encoders import UnitEncoder
from discsum.persistence import fingerprint
from discsum.scoring import Scores, extract
from discsum.selection import OPEN_RULES
from discsum.summarizer.extractive import ExtractiveSummarizer
from discsum.summarizer.folder import SummarizerConfig, head_code
from discsum.summarizer.training.card import summarizer_card
from discsum.summarizer.training.examples import Batch, UnitCollection, UnitExample, collate
from discsum.summarizer.training.recipe import SummarizerRecipe
from discsum.summarizer.training.start import initialise_from
from discsum.training.task import LogEntry, Step, TrainingTask

# Documents scored as one batch in validation.
BATCH = 32


@dataclass(frozen=True)
class WeightedBatch:
    """The documents of this process in one accumulation part of a step.

    Attributes:
        batch: The documents.
        weights: `(batch, units)` weight of each unit's loss, 0 where padded.
        whole: Sum of the weights over the whole step, divided by the number of processes.
        documents: Number of documents in the whole step, divided by the number of processes.
    """

    batch: Batch
    weights: Tensor
    whole: Tensor
    documents: float


class ScoringNetwork(nn.Module):
    """Scores units from stored vectors or by encoding them; `layers` are the encoder's trained layers."""

    def __init__(self, network: Synthesizer, encoder: UnitEncoder | None, unit: str) -> None:
        """Combine a network with an encoder, or with None if the examples have vectors."""
        super().__init__()
        self.network = network
        self.layers = encoder.trained if encoder is not None else nn.ModuleList()
        self.unit = unit
        # In a list: frozen layers are not registered, so checkpoints and weight averages leave them out.
        self._encoder = [encoder]

    @property
    def encoder(self) -> UnitEncoder | None:
        """The unit encoder, or None if units are not encoded during training."""
        return self._encoder[0]

    def train(self, mode: bool = True) -> ScoringNetwork:
        """Switch dropout on or off, also in frozen layers."""
        super().train(mode)
        if self.encoder is not None:
            self.encoder.train(mode)
        return self

    def forward(self, batch: Batch) -> Tensor:
        """Return `(batch, units)` logits."""
        inputs = batch.inputs
        if self.encoder is not None:
            documents, counts = zip(*((one.document, len(one.labels)) for one in batch.examples), strict=True)
            inputs = replace(inputs, vectors=padded(self.encoder.vectors(documents, self.unit, counts)))
        logits: Tensor = self.network(inputs)
        return logits

    def score(self, examples: Sequence[UnitExample]) -> Tensor:
        """Return `(examples, units)` logits of examples, in full precision."""
        # The class's method, because accelerate wraps the instance's in mixed precision.
        return ScoringNetwork.forward(self, collate(examples).to(self.network.device))


class ExtractiveTask(TrainingTask[SummarizerRecipe, UnitCollection]):
    """Trains a network to score the units of summaries."""

    def __init__(
        self, recipe: SummarizerRecipe, train: UnitCollection, validation: UnitCollection, name: str, notes: str = ""
    ) -> None:
        """Build the network; the recipe's `sample` is drawn from `train`, and `notes` go into the model card.

        Raises:
            InputError: Validation documents among the training documents.
            WeightsError: No such parser or encoder.
        """
        super().__init__(recipe, train.sampled(recipe.sample, recipe.sample_seed), validation)
        self.validation, self.notes = validation, notes
        # A run that encodes moves the parser's network and enables its dropout, so it must not use the cached parser.
        self.parser = (Parser.from_pretrained if recipe.encodes else load_parser)(recipe.parser)
        device = self.accelerator.device
        encoder = None
        if recipe.encodes:
            self.parser.network.to(device)
            layers, window = recipe.encoder_layers, recipe.encoder_window
            encoder = UnitEncoder.load(recipe.vectors, self.parser, layers=layers, dropout=True, window=window)
        identity = {"encoder": encoder.fingerprint, "revision": encoder.revision} if encoder else self.train.encoder
        taken: dict[str, Any] = {
            "encoder_layers": recipe.encoder_layers,
            "encoder_window": recipe.encoder_window,
            "parser": recipe.parser,
            "units": recipe.summary_units,
            "sentence_model": recipe.sentence_model or "",
            "sentence_share": recipe.sentence_share,
            **{name: getattr(recipe, name) for name in OPEN_RULES},
        }
        self.config = SummarizerConfig(name, recipe.unit, recipe.vectors, **identity, **taken)
        torch.manual_seed(recipe.seed)
        width, features = encoder.width if encoder is not None else self.train.width, COUNT if recipe.features else 0
        network = Synthesizer(replace(recipe.synthesizer, width=width, features=features)).to(device)
        self.network = self.scorer = ScoringNetwork(network, encoder, recipe.unit)

    def parameter_groups(self) -> list[dict[str, Any]]:
        """Return the parameters of the network and of the encoder's trained layers, each with its learning rate."""
        rates = [
            (self.scorer.network, self.recipe.learning_rate),
            (self.scorer.layers, self.recipe.encoder_learning_rate),
        ]
        groups = [{"params": list(part.parameters()), "lr": rate} for part, rate in rates]
        return [group for group in groups if group["params"]]

    def start(self, report: Callable[[str], None]) -> None:
        """Initialise the matching layers from the recipe's `start`; errors as in `initialise_from`."""
        if self.recipe.start is not None:
            copied = initialise_from(self.scorer.network, self.scorer.layers, self.config, self.recipe.start)
            report(f"initialised the {', '.join(copied)} from {self.recipe.start}")

    def batches(self, parts: Sequence[Sequence[int]], step: Step) -> list[WeightedBatch]:
        """Return the padded documents of each part, with weights."""
        padded = [collate([self.train[index] for index in part]).to(self.accelerator.device) for part in parts]
        weights = [torch.where(one.labels > 0, self.recipe.positive_weight, 1.0) * one.inputs.mask for one in padded]
        whole: Any = self.accelerator.reduce(torch.stack([one.sum() for one in weights]).sum(), reduction="mean")
        documents = self.recipe.batch_size / self.accelerator.num_processes
        return [WeightedBatch(batch, weight, whole, documents) for batch, weight in zip(padded, weights, strict=True)]

    def loss(self, network: nn.Module, batch: WeightedBatch) -> dict[str, Tensor]:
        """Return the batch's share of the step's mean loss.

        With `listwise` in the recipe, the loss interpolates between the mean over units (`labels`) and the mean
        list-wise loss over documents (`listwise`), which are returned too.
        """
        logits, share = network(batch.batch).float(), self.recipe.listwise
        losses = {"loss": (self.unit_losses(logits, batch.batch) * batch.weights).sum() / batch.whole}
        if share:
            listed = self.list_losses(logits, batch.batch).sum() / batch.documents
            losses = {"loss": torch.lerp(losses["loss"], listed, share), "labels": losses["loss"], "listwise": listed}
        return losses

    def unit_losses(self, logits: Tensor, batch: Batch) -> Tensor:
        """Return the cross-entropy `(batch, units)` of the logits; targets interpolate between labels and the lead."""
        lead = (torch.arange(batch.labels.shape[1], device=logits.device) < self.recipe.summary_units).float()
        targets = torch.lerp(batch.labels, lead.expand_as(batch.labels), self.recipe.lead_share)
        return torch.nn.functional.binary_cross_entropy_with_logits(logits, targets, reduction="none")

    def list_losses(self, logits: Tensor, batch: Batch) -> Tensor:
        """Return the ListNet loss `(batch,)`: the cross-entropy of the softmax of logits against the softmax of gains.

        Both softmaxes are over units (Cao et al. 2007, section 4). Targets interpolate with the lead, as in
        `unit_losses`.
        """
        left_out = ~batch.inputs.mask
        targets = (batch.gains / self.recipe.temperature).masked_fill(left_out, -torch.inf).softmax(-1)
        lead = (torch.arange(logits.shape[1], device=logits.device) < self.recipe.summary_units) & batch.inputs.mask
        targets = torch.lerp(targets, lead / lead.sum(-1, keepdim=True), self.recipe.lead_share)
        predicted = logits.masked_fill(left_out, -torch.inf).log_softmax(-1).masked_fill(left_out, 0.0)
        return -(targets * predicted).sum(-1)

    @torch.inference_mode()
    def validate(self) -> dict[str, float]:
        """Return ROUGE F1 of summaries of the validation documents, in percent."""
        summarizer = self._summarizer()
        policy, lines, references = summarizer.policy(), list[str](), list[tuple[str, ...]]()
        for block in batches((self.validation[index] for index in range(len(self.validation))), BATCH):
            for example, logits in zip(block, torch.sigmoid(self.scorer.score(block)).cpu(), strict=True):
                # The example only has the first section; later units score 0.
                scores, known = np.zeros(len(example.document.units(policy.unit))), len(example.labels)
                scores[:known] = logits[:known].double().numpy()
                if self._sentence_scores is not None:
                    scores = summarizer.averaged(example.document, scores, self._sentence_scores[len(lines)])
                lines.append("\n".join(extract(example.document, summarizer, policy, scores=scores).lines))
                references.append(example.references)
        return {key: round(100 * value, 4) for key, value in rouge(lines, references).mean.items()}

    @cached_property
    def _sentence_scores(self) -> list[Scores] | None:
        """Scores `(sentences,)` of each validation document; None without a summarizer of sentences.

        They are computed once, because they do not change during a run.
        """
        model = self._summarizer().sentence_model
        if model is None:
            return None
        examples = (self.validation[index] for index in range(len(self.validation)))
        return [model.score(example.document, "sentence") for example in examples]

    def selection_score(self, entry: LogEntry) -> float:
        """Return the mean of the recipe's validation metrics."""
        chosen = self.recipe.chosen_by
        return sum(entry.validation.get(metric, 0.0) for metric in chosen) / len(chosen)

    def state(self) -> dict[str, Any]:
        """Return what is not in the checkpoint: digests of an encoder, of the code of heads, of another summarizer."""
        heads = head_code(self.recipe.synthesizer)
        return {"encoder": self.config.encoder, "heads": heads, "sentence_model": self._sentence_fingerprint()}

    def _sentence_fingerprint(self) -> str:
        """Return the fingerprint of the summarizer of sentences; empty without one."""
        name = self.config.sentence_model
        return fingerprint(name, SUMMARIZER_KIND) if name else ""

    def load_state(self, state: dict[str, Any]) -> None:
        """Check that the encoder, the code of heads and the summarizer of sentences are those that the run began with.

        Raises:
            WeightsError: Another encoder of the same name, such as a newer commit, or other code of a head.
        """
        began = state.get("encoder", self.config.encoder)
        if began != self.config.encoder:
            raise WeightsError(
                f"vectors: expected the encoder {self.recipe.vectors} with digest {began}, which the run began with, "
                f"got {self.config.encoder}; restore it, or choose another folder to train again"
            )
        if (model := state.get("sentence_model", "")) != (now := self._sentence_fingerprint()):
            raise WeightsError(
                f"sentence_model: expected {self.config.sentence_model or 'none'} with fingerprint {model or 'none'}, "
                f"which the run began with, got {now or 'none'}; restore it, or choose another folder to train again"
            )
        code = head_code(self.recipe.synthesizer)
        if (heads := state.get("heads", code)) != code:
            raise WeightsError(
                f"synthesizer: expected the code of heads that the run began with, {heads}, got {code}; restore it, or "
                "choose another folder to train again"
            )

    def save(self, folder: Path) -> None:
        """Write the summarizer."""
        self._summarizer().save_pretrained(folder)

    def card(self, log: Sequence[LogEntry], best: LogEntry) -> str:
        """Return the model card."""
        documents = len(self.train), len(self.validation)
        network, given = self.scorer.network.config, self.train.given_trees
        return summarizer_card(self.recipe, self.config, network, documents, given, log, best, self.notes)

    def _summarizer(self) -> ExtractiveSummarizer:
        return ExtractiveSummarizer(self.scorer.network, self.config, self.parser, self.scorer.layers.state_dict())
