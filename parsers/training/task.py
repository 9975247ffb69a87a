"""The parser's training task: its network, its losses on gold and pseudo-labelled documents, and its validation."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from discsum.constants import PARSER_KIND, SHIPPED_PARSER
from discsum.devices import has_fast_bfloat16
from discsum.errors import InputError, warn_caller
from discsum.parsers.encoder import longest_window
from discsum.parsers.network import ParserNetwork
from discsum.parsers.parser import Parser
from discsum.parsers.pretrained import pretrained_encoder
from discsum.parsers.structure import DESIGNS
from discsum.parsers.training.card import parser_card
from discsum.parsers.training.evaluation import evaluate_parser, format_figures
from discsum.parsers.training.examples import Example, GoldExamples, HeldOut, digest, label_set, warn_of_memory
from discsum.parsers.training.losses import LossSums, ParserBatch, ParserObjective, make_batch
from discsum.parsers.training.pseudo_labels import pseudo_label, separate_paragraphs, shuffled_cycle, truncate
from discsum.parsers.training.recipe import ParserRecipe
from discsum.parsers.training.splits import Treebank
from discsum.parsers.training.start import initialise_from
from discsum.parsers.training.teachers import Teachers
from discsum.persistence import fingerprint
from discsum.registry import suggestion
from discsum.relation_classes import RelationClasses
from discsum.text_checks import ENGLISH
from discsum.training.processes import local_main_first
from discsum.training.task import LogEntry, Report, Step, TrainingTask


@dataclass(frozen=True)
class WeightedBatch:
    """This process's documents of a part of a step, with the weights of their losses.

    Attributes:
        starts: EDU and sentence starts in the whole step, divided by the number of processes.
        share: The part's share of the whole step's nodes, times the number of processes.
    """

    batch: ParserBatch
    starts: Tensor
    share: Tensor


def _check_classes(classes: RelationClasses, relations: Collection[str]) -> None:
    """Check that relations of the recipe's classes are in the treebank; warn of patterns that class none."""
    used = {classes.name_of(relation) for relation in relations}
    unused = [name for name in classes.names if name not in used]
    for name in unused:
        if "*" not in name:
            near = suggestion(name, sorted(relations))
            raise InputError(f"classes: expected relations of the treebank, got {name!r}{near}")
    if unused:
        warn_caller(f"classes: no relation of the treebank has its class by {', '.join(unused)}")


class ParserTask(TrainingTask[ParserRecipe, GoldExamples]):
    """Trains segmenter and tree builder on gold documents and on texts that teachers pseudo-label."""

    # Which parameters have a gradient depends on the design, and on whether documents have nodes.
    unused_parameters = True

    def __init__(
        self,
        recipe: ParserRecipe,
        treebank: Treebank,
        name: str,
        notes: str = "",
        *,
        texts: Sequence[str] = (),
        cache: Path | None = None,
        weights_seed: int | None = None,
    ) -> None:
        """Build the network.

        Args:
            recipe: All settings.
            treebank: Gold documents to train and to validate on.
            name: The parser's name.
            notes: Text for the model card.
            texts: Texts without trees for the recipe's teachers.
            cache: Folder of the teachers' predictions, which runs may share; required with teachers.
            weights_seed: Seed of the weights that neither encoder nor `start` gives; by default the recipe's. Runs
                whose weights will be averaged need the same one.

        Raises:
            InputError: Windows that are longer than the encoder reads.
            WeightsError: No such encoder.
        """
        torch.manual_seed(recipe.seed if weights_seed is None else weights_seed)
        pretrained = pretrained_encoder(recipe.encoder)
        if recipe.encoder == SHIPPED_PARSER and recipe.language not in ("", ENGLISH):
            warn_caller(
                f"encoder: expected one of the language {recipe.language!r}, got {recipe.encoder}, which is English; "
                "choose another, such as encoder=hf:xlm-roberta-base"
            )
        longest = longest_window(pretrained.encoder)
        if longest is not None and recipe.network.window > longest:
            raise InputError(
                f"network.window: expected at most {longest} subwords, the limit of {recipe.encoder}, got "
                f"{recipe.network.window}; set network.window={longest}"
            )
        self.tokenizer, labels = pretrained.tokenizer, label_set(treebank.train)
        super().__init__(recipe, GoldExamples(treebank.train, self.tokenizer, labels), HeldOut(treebank.dev))
        if DESIGNS[recipe.network.design].learns_distributions:
            warn_of_memory(self.train.documents)
        self.name, self.notes = name, notes
        # Without documents that cannot be learned from.
        self.treebank = replace(treebank, train=self.train.documents)
        relations = {relation for _, relation in labels}
        classes = RelationClasses.of(relations, recipe.classes)
        _check_classes(classes, relations | {relation for _, relation in label_set(treebank.dev)})
        parser = ParserNetwork(pretrained.encoder, pretrained.special, labels, recipe.network, classes)
        self.parser = parser.to(self.accelerator.device)
        # Word vectors are half of the parameters; a few hundred documents are too few to improve them.
        for parameter in pretrained.encoder.get_input_embeddings().parameters():  # type: ignore[operator]
            parameter.requires_grad_(False)
        self._bf16 = recipe.bf16 and has_fast_bfloat16(self.accelerator.device)
        if recipe.bf16 and not self._bf16 and self.accelerator.is_main_process:
            warn_caller(
                f"bf16: the device {self.accelerator.device} has no bfloat16 instructions; the encoder trains in "
                "float32, as with bf16=false, although the recipe in the model card keeps bf16: true"
            )
        self.network = ParserObjective(self.parser, replace(recipe, bf16=self._bf16))
        self._texts, self._cache = texts, cache
        self.pseudo_labelled: list[Example] = []
        self._pseudo_labelled_digest: str | None = None
        # Identifies the parser that the run was initialised from.
        self._started_from: str | None = None

    def parameter_groups(self) -> list[dict[str, Any]]:
        """Return groups by learning rate (encoder or not) and weight decay (matrices only)."""
        groups: dict[tuple[bool, bool], list[Tensor]] = {}
        for name, parameter in self.parser.named_parameters():
            if parameter.requires_grad:
                groups.setdefault((name.startswith("encoder."), parameter.ndim > 1), []).append(parameter)
        rates = {True: self.recipe.encoder_learning_rate, False: self.recipe.learning_rate}
        return [
            {"params": parameters, "lr": rates[encoder], "weight_decay": self.recipe.weight_decay if matrix else 0.0}
            for (encoder, matrix), parameters in sorted(groups.items(), key=lambda item: item[0])
        ]

    def start(self, report: Report) -> None:
        """Initialise the matching layers from the recipe's `start`.

        Raises:
            InputError: There is no such parser, or none of its layers match.
        """
        if self.recipe.start:
            copied = initialise_from(self.parser, self.tokenizer, self.recipe.start)
            self._started_from = fingerprint(self.recipe.start, PARSER_KIND)
            report(f"initialised the {', '.join(copied)} from {self.recipe.start}")

    def prepare(self, report: Report) -> None:
        """Pseudo-label the texts; not needed in a finished run.

        Raises:
            InputError: Teachers or texts cannot be used, or are not those that the run began with.
            WeightsError: A damaged teacher.
        """
        recipe, labels = self.recipe, self.parser.labels.labels
        if recipe.teachers:
            assert self._cache is not None, "callers with teachers give a cache"
            held_out = {"".join(document.text.split()) for document in self.treebank.dev}
            shared = [number for number, text in enumerate(self._texts) if "".join(text.split()) in held_out]
            if shared:
                raise InputError(
                    f"texts: expected none of the {len(self.treebank.dev)} documents to validate on, got {len(shared)} "
                    f"of them; the first is text {shared[0] + 1}; leave them out"
                )
            texts = [separate_paragraphs(truncate(text, recipe.longest)) for text in self._texts]
            with local_main_first():
                teachers = Teachers.load(recipe.teachers, labels, str(self.accelerator.device), self._bf16)
                self.pseudo_labelled = pseudo_label(texts, teachers, self.tokenizer, self._cache, report)
        found = digest(self.pseudo_labelled)
        if self._pseudo_labelled_digest not in (None, found):
            raise InputError(
                "expected the teachers and texts that the run began with, found different ones; choose another folder"
            )
        self._pseudo_labelled_digest = found

    def batches(self, parts: Sequence[Sequence[int]], step: Step) -> list[WeightedBatch]:
        """Return the augmented gold documents of each part with its share of the step's pseudo-labelled ones."""
        recipe, processes, available = self.recipe, self.accelerator, self.pseudo_labelled
        drawn = shuffled_cycle(len(available), step.number * recipe.silver, recipe.silver, recipe.seed)
        found = []
        for number, part in enumerate(parts):
            others = drawn[number :: len(parts)][processes.process_index :: processes.num_processes]
            # Seeded by document: independent of the number of processes and of resuming.
            keys = [(0, index) for index in part] + [(1, index) for index in others]
            random = [np.random.default_rng([recipe.seed, step.number, *key]) for key in keys]
            gold, other = [self.train[index] for index in part], [available[index] for index in others]
            found.append(make_batch(gold, other, recipe, random, step.done >= recipe.predicted_edus_from))
        counts = torch.tensor([[batch.starts, batch.nodes] for batch in found], device=processes.device)
        means: Any = processes.reduce(counts, reduction="mean")
        shares = means[:, 1] * processes.num_processes / means[:, 1].sum().clamp(min=1e-9)
        return [WeightedBatch(batch, means[:, 0].sum(), share) for batch, share in zip(found, shares, strict=True)]

    def loss(self, network: nn.Module, batch: WeightedBatch) -> dict[str, Tensor]:
        """Return the batch's part of each loss over the whole step, and of their weighted sum.

        One subword in ten is a start. The tag loss is a sum over subwords divided by the number of starts, which keeps
        it on the scale of the other losses, means over nodes. Parts are weighted by their nodes over gold EDUs, as the
        number over predicted EDUs is not known beforehand.
        """
        found: LossSums = network(batch.batch)
        nodes: Any = self.accelerator.reduce(found.nodes, reduction="sum")
        tags = found.tags / batch.starts
        splits, labels = (loss * (batch.share / nodes.clamp(min=1.0)) for loss in (found.splits, found.labels))
        total = self.recipe.tag_weight * tags + splits + self.recipe.label_weight * labels
        return {"loss": total, "tags": tags, "splits": splits, "labels": labels}

    def validate(self) -> dict[str, float]:
        """Return the figures on the dev documents, in percent."""
        scores = evaluate_parser(self._parser(), self.treebank.dev)
        return scores.figures | {"selection_score": round(scores.selection_score, 4)}

    def selection_score(self, entry: LogEntry) -> float:
        """Return `ParserScores.selection_score` of a validation."""
        return entry.validation["selection_score"]

    def shown(self, validation: dict[str, float]) -> str:
        """Return the figures in one line."""
        return format_figures(validation)

    def save(self, folder: Path) -> None:
        """Write the parser, and the splits of its treebank."""
        self._parser().save_pretrained(folder)
        self.treebank.splits.write(folder)

    def card(self, log: Sequence[LogEntry], best: LogEntry) -> str:
        """Return the model card."""
        return parser_card(self.name, self.recipe, self.treebank, log, best, self.notes)

    def state(self) -> dict[str, Any]:
        """Return the digests of the pseudo-labelled texts and of the parser that the run was initialised from."""
        return {"silver": self._pseudo_labelled_digest, "start": self._started_from}

    def load_state(self, state: dict[str, Any]) -> None:
        """Restore the digests that the run began with."""
        self._pseudo_labelled_digest, self._started_from = state["silver"], state.get("start")

    def _parser(self) -> Parser:
        language = self.recipe.language or self.treebank.language
        return Parser(self.parser, self.tokenizer, self.name, language=language)
