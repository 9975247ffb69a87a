"""Recipes of extractive summarizers."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated

from discsum.constants import UNITS
from discsum.encoder.synthesizer import SynthesizerConfig
from discsum.metrics.rouge import METRICS
from discsum.oracles import ORACLES
from discsum.recipes.fields import Count, Natural, Positive, Share, about, one_of
from discsum.training.recipe import RunRecipe


@dataclass(frozen=True)
class SummarizerRecipe(RunRecipe):
    """Settings of a training run of an extractive summarizer."""

    unit: Annotated[str, one_of(UNITS, "Unit of the summaries.")] = "sentence"
    vectors: Annotated[
        str,
        about(
            "`contextual`, `discourse`, `isolated`, or a Hugging Face encoder, as in `SummarizerConfig`; the "
            "parser's encoder makes the first three kinds."
        ),
    ] = "contextual"
    encode_each_step: Annotated[
        bool,
        about(
            "Whether units are encoded in each step, with the encoder's dropout, as in the paper; otherwise their "
            "vectors are computed once."
        ),
    ] = False
    encoder_layers: Annotated[
        Natural, about("Number of the encoder's last layers that are trained; units are then encoded in each step.")
    ] = 0
    encoder_rate: Annotated[Positive, about("Peak learning rate of these layers.")] = 3e-5
    units: Annotated[Count, about("Number of units of a summary.")] = 3
    oracle: Annotated[str, one_of(ORACLES, "Name of the oracle that labels units.")] = "rouge12-f"
    oracle_units: Annotated[Count | None, about("Maximum number of units that the oracle selects.")] = None
    synthesizer: Annotated[
        SynthesizerConfig, about("Sizes and head of the network; width and features follow from the inputs.")
    ] = field(default_factory=SynthesizerConfig)
    features: Annotated[
        bool, about("Whether the network reads layout features of units in addition to their vectors.")
    ] = True
    choose: Annotated[
        str,
        about(
            "Validation ROUGE F1 by which weights are kept: one of rouge1, rouge2, rougeLsum, or the mean of several "
            "joined by +."
        ),
    ] = "rouge2"
    positive_weight: Annotated[Positive, about("Weight of the oracle's units in the loss.")] = 1.0
    lead: Annotated[
        Share,
        about(
            "Weight of the lead in the targets: with 0.2, targets are 0.8 times the oracle's label, plus 0.2 for each "
            "of the first `units` units."
        ),
    ] = 0.0

    def problems(self) -> list[str]:
        """Return what is wrong with the fields."""
        found = super().problems()
        found += [f"synthesizer.{problem}" for problem in self.synthesizer.head_problems()]
        if not set(self.chosen_by) <= set(METRICS):
            found.append(f"choose: expected some of {', '.join(METRICS)} joined by +, got {self.choose!r}")
        if self.oracle in ORACLES and ORACLES.entry(self.oracle).facts.get("edu_only") and self.unit != "edu":
            found.append(f"oracle: expected {self.oracle} with unit edu only")
        return found

    @property
    def encodes(self) -> bool:
        """Whether units are encoded during training; otherwise their vectors are part of the data."""
        return self.encode_each_step or self.encoder_layers > 0

    @property
    def chosen_by(self) -> tuple[str, ...]:
        """The metrics whose mean selects the weights."""
        return tuple(self.choose.split("+"))
