"""What a training run of a summarizer is made of."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from discsum.constants import UNITS
from discsum.encoder.heads import head_type
from discsum.encoder.synthesizer import SynthesizerConfig
from discsum.errors import InputError
from discsum.metrics.rouge import METRICS
from discsum.oracles import ORACLES
from discsum.recipes.fields import mistaken
from discsum.recipes.sources import Source, sources
from discsum.training.recipe import RunRecipe


@dataclass(frozen=True)
class SummarizerRecipe(RunRecipe):
    """A training run of an extractive summarizer: what is said of every run, and this.

    Attributes:
        unit: `sentence` or `edu`.
        vectors: `contextual`, `discourse`, `isolated`, or a Hugging Face encoder, as in `SummarizerConfig`; the
            parser's encoder makes the first three kinds.
        encode_each_step: Whether units are encoded anew each step, with the encoder's dropout, as in the paper;
            otherwise their vectors are computed once.
        encoder_layers: How many of the encoder's last layers are trained too; units are then encoded each step.
        encoder_rate: Peak learning rate of these layers.
        units: Units a summary has.
        oracle: Name of the oracle that labels units.
        oracle_units: Units the oracle may take, at most.
        synthesizer: Sizes and head of the network; width and features follow from the inputs.
        features: Whether the network reads the units' layout features beside their vectors.
        choose: Validation ROUGE F1 by which weights are kept: one of rouge1, rouge2, rougeLsum, or the mean of several
            joined by +.
        positive_weight: Weight of the units of the oracle in the loss.
        lead: Weight of the lead in what is learned, the rest being the oracle: 0.2 makes 0.2 the least target of each
            of the first `units` units and 0.8 the most of all others.
    """

    unit: str = "sentence"
    vectors: str = "contextual"
    encode_each_step: bool = False
    encoder_layers: int = 0
    encoder_rate: float = 3e-5
    units: int = 3
    oracle: str = "rouge12-f"
    oracle_units: int | None = None
    synthesizer: SynthesizerConfig = field(default_factory=SynthesizerConfig)
    features: bool = True
    choose: str = "rouge2"
    positive_weight: float = 1.0
    lead: float = 0.0

    def problems(self) -> list[str]:
        """Return what is wrong with the fields."""
        found = [*self.not_among("unit", UNITS), *self.not_among("oracle", tuple(ORACLES))]
        for name in (self.synthesizer.head, *self.synthesizer.mixture):
            try:
                head_type(name)
            except InputError as error:
                found.append(f"synthesizer.head: {error}")
        found += super().problems()
        found += self.not_above_zero(("units", "encoder_rate", "positive_weight"))
        if not set(self.chosen_by) <= set(METRICS):
            found.append(f"choose: expected some of {', '.join(METRICS)} joined by +, got {self.choose!r}")
        if self.encoder_layers < 0:
            found.append(f"encoder_layers: expected at least 0, got {self.encoder_layers}")
        if self.oracle == "discobert-edu" and self.unit != "edu":
            found.append("oracle: expected discobert-edu with unit edu only")
        return found + self.not_shares(("lead",))

    @property
    def encodes(self) -> bool:
        """Whether units are encoded in training; otherwise their vectors are part of the data."""
        return self.encode_each_step or self.encoder_layers > 0

    @property
    def chosen_by(self) -> tuple[str, ...]:
        """The metrics whose mean is what weights are chosen by."""
        return tuple(self.choose.split("+"))

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> SummarizerRecipe:
        """Return the recipe of a YAML file's content; an unknown field is an error that lists the known ones."""
        settings = dict(data)
        network = settings.pop("synthesizer", {})
        train, wrong = sources("train", settings.pop("train", []), Source)
        validation, also_wrong = sources("validation", settings.pop("validation", []), Source)
        problems = mistaken(cls, settings, groups=("synthesizer", "train", "validation"))
        if isinstance(network, dict):
            problems += mistaken(SynthesizerConfig, network, "synthesizer.")
        else:
            problems.append(f"synthesizer: expected a group of fields, got {network!r}")
        problems += [*wrong, *also_wrong]
        if problems:
            raise InputError("; ".join(problems))
        return cls(train, validation, synthesizer=SynthesizerConfig(**network), **settings)
