"""What training a parser is: its network, its losses on gold and silver documents, and the figures it is chosen by."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from discsum.document import Document
from discsum.errors import InputError
from discsum.parsers.network import ParserNetwork
from discsum.parsers.parser import Parser
from discsum.parsers.pretrained import pretrained_encoder
from discsum.parsers.training.card import parser_card
from discsum.parsers.training.evaluation import evaluate_parser, in_one_line
from discsum.parsers.training.examples import Example, GoldExamples, digest, label_set
from discsum.parsers.training.losses import LossSums, ParserBatch, ParserObjective, make_batch
from discsum.parsers.training.recipe import ParserRecipe
from discsum.parsers.training.silver import in_turns, pseudo_label, shortened, with_paragraphs
from discsum.parsers.training.start import begin_with
from discsum.parsers.training.teachers import Teachers
from discsum.training.processes import local_main_first
from discsum.training.task import LogEntry, Step, TrainingTask

Report = Callable[[str], None]


@dataclass(frozen=True)
class WeightedBatch:
    """This process's documents of a part of a step.

    Attributes:
        batch: The documents.
        starts: Beginnings of units in the whole step, divided by the number of processes.
        share: The part's share of the whole step's nodes, times the number of processes.
    """

    batch: ParserBatch
    starts: Tensor
    share: Tensor


class ParserTask(TrainingTask[ParserRecipe, GoldExamples]):
    """Learns to segment and to parse from gold documents, and from what teachers say of texts without trees."""

    # Which parameters have a gradient depends on the design, and on whether a document has a node.
    unused_parameters = True

    def __init__(
        self,
        recipe: ParserRecipe,
        train: Sequence[Document],
        dev: Sequence[Document],
        name: str,
        notes: str = "",
        *,
        texts: Sequence[str] = (),
        cache: Path | None = None,
    ) -> None:
        """Build the network.

        Args:
            recipe: All settings.
            train: Gold documents to learn from.
            dev: Gold documents to choose by.
            name: The parser's name.
            notes: For its card.
            texts: Texts without trees, to learn from the recipe's teachers.
            cache: Folder of the teachers' answers, which runs may share; needed with teachers.

        Raises:
            WeightsError: No such encoder.
        """
        torch.manual_seed(recipe.seed)
        pretrained = pretrained_encoder(recipe.encoder)
        self.tokenizer, labels = pretrained.tokenizer, label_set(train)
        super().__init__(recipe, GoldExamples(train, self.tokenizer, labels))
        self.dev, self.name, self.notes = dev, name, notes
        parser = ParserNetwork(pretrained.encoder, pretrained.special, labels, recipe.network)
        self.parser = parser.to(self.accelerator.device)
        # Word vectors hold half of the parameters; a few hundred documents only blur them.
        for parameter in pretrained.encoder.get_input_embeddings().parameters():  # type: ignore[operator]
            parameter.requires_grad_(False)
        self.network = ParserObjective(self.parser, recipe)
        self._texts, self._cache = texts, cache
        self.silver: list[Example] = []
        self._silver_digest: str | None = None

    def parameter_groups(self) -> list[dict[str, Any]]:
        """Return the encoder's parameters and all others, matrices apart from vectors, which do not decay."""
        groups: dict[tuple[bool, bool], list[Tensor]] = {}
        for name, parameter in self.parser.named_parameters():
            if parameter.requires_grad:
                groups.setdefault((name.startswith("encoder."), parameter.ndim > 1), []).append(parameter)
        rates = {True: self.recipe.encoder_rate, False: self.recipe.rate}
        return [
            {"params": parameters, "lr": rates[encoder], "weight_decay": self.recipe.decay if matrix else 0.0}
            for (encoder, matrix), parameters in sorted(groups.items(), key=lambda item: item[0])
        ]

    def start(self, report: Report) -> None:
        """Take the layers that fit of the parser that the recipe begins with.

        Raises:
            InputError: There is no such parser, or nothing of it fits.
        """
        if self.recipe.start:
            taken = begin_with(self.parser, self.tokenizer, self.recipe.start)
            report(f"begins with the {', '.join(taken)} of {self.recipe.start}")

    def prepare(self, report: Report) -> None:
        """Ask the teachers, which a finished run needs no more.

        Raises:
            InputError: Teachers and texts are none to learn from, or others than those that the run began with.
            WeightsError: A damaged teacher.
        """
        recipe, labels = self.recipe, self.parser.labels.labels
        if recipe.teachers:
            assert self._cache is not None, "whoever has teachers has a folder for their answers"
            texts = [with_paragraphs(shortened(text, recipe.longest)) for text in self._texts]
            with local_main_first():
                teachers = Teachers.load(recipe.teachers, labels, str(self.accelerator.device), recipe.bf16)
                self.silver = pseudo_label(texts, teachers, self.tokenizer, self._cache, report)
        found = digest(self.silver)
        if self._silver_digest not in (None, found):
            raise InputError(
                "expected the teachers and texts that the run began with, found others; choose another folder"
            )
        self._silver_digest = found

    def batches(self, parts: Sequence[Sequence[int]], step: Step) -> list[WeightedBatch]:
        """Return the gold documents of each part, and its share of the step's silver ones, as they are learned from."""
        recipe, processes = self.recipe, self.accelerator
        silver = in_turns(len(self.silver), step.number * recipe.silver, recipe.silver, recipe.seed)
        found = []
        for place, part in enumerate(parts):
            other = silver[place :: len(parts)][processes.process_index :: processes.num_processes]
            # By document: the same however many processes there are, and in a run that goes on.
            keys = [(0, index) for index in part] + [(1, index) for index in other]
            random = [np.random.default_rng([recipe.seed, step.number, *key]) for key in keys]
            gold, said = [self.train[index] for index in part], [self.silver[index] for index in other]
            found.append(make_batch(gold, said, recipe, random, step.done >= recipe.predicted_from))
        counts = torch.tensor([[batch.starts, batch.nodes] for batch in found], device=processes.device)
        means: Any = processes.reduce(counts, reduction="mean")
        shares = means[:, 1] * processes.num_processes / means[:, 1].sum().clamp(min=1e-9)
        return [WeightedBatch(batch, means[:, 0].sum(), share) for batch, share in zip(found, shares, strict=True)]

    def loss(self, network: nn.Module, batch: WeightedBatch) -> dict[str, Tensor]:
        """Return the batch's part of the weighted sum of the losses over the whole step, and of each.

        Starts are one subword in ten; the sum over all subwords a start keeps the loss of tags on the scale of the
        others, which are means over nodes. Parts of a step count by their nodes over gold EDUs: how many they have over
        predicted ones is known only when each is learned from.
        """
        found: LossSums = network(batch.batch)
        nodes: Any = self.accelerator.reduce(found.nodes, reduction="sum")
        tags = found.tags / batch.starts
        splits, labels = (one * (batch.share / nodes.clamp(min=1.0)) for one in (found.splits, found.labels))
        total = self.recipe.tag_weight * tags + splits + self.recipe.label_weight * labels
        return {"loss": total, "tags": tags, "splits": splits, "labels": labels}

    def validate(self) -> dict[str, float]:
        """Return the figures on the dev documents, in percent."""
        scores = evaluate_parser(self._parser(), self.dev)
        return scores.figures | {"selection_score": round(scores.selection_score, 4)}

    def selection_score(self, entry: LogEntry) -> float:
        """Return the mean of segmentation and parsing; see `ParserScores.selection_score`."""
        return entry.validation["selection_score"]

    def shown(self, validation: dict[str, float]) -> str:
        """Return the figures in one line."""
        return in_one_line(validation)

    def save(self, folder: Path) -> None:
        """Write the parser."""
        self._parser().save_pretrained(folder)

    def card(self, log: Sequence[LogEntry], best: LogEntry) -> str:
        """Return the model card."""
        return parser_card(self.name, self.recipe, log, best, self.notes)

    def state(self) -> dict[str, Any]:
        """Return a name for what teachers said."""
        return {"silver": self._silver_digest}

    def load_state(self, state: dict[str, Any]) -> None:
        """Take the name for what teachers said when the run began."""
        self._silver_digest = state["silver"]

    def _parser(self) -> Parser:
        return Parser(self.parser, self.tokenizer, self.name)
