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
            "`contextual`, `discourse` or `isolated` by the parser's encoder, or the name of a Hugging Face encoder."
        ),
    ] = "contextual"
    encode_each_step: Annotated[
        bool, about("Whether to encode units in each step, with dropout, as in the paper, instead of once.")
    ] = False
    encoder_layers: Annotated[
        Natural, about("Number of the encoder's last layers to train; units are then encoded in each step.")
    ] = 0
    encoder_rate: Annotated[Positive, about("Peak learning rate of these layers.")] = 3e-5
    units: Annotated[Count, about("Number of units of a summary.")] = 3
    oracle: Annotated[str, one_of(ORACLES, "Name of the oracle that labels units.")] = "rouge12-f"
    oracle_units: Annotated[Count | None, about("Maximum number of units that the oracle selects.")] = None
    synthesizer: Annotated[
        SynthesizerConfig, about("Sizes and head of the network; width and features follow from the inputs.")
    ] = field(default_factory=SynthesizerConfig)
    features: Annotated[bool, about("Whether the network reads layout features besides unit vectors.")] = True
    choose: Annotated[
        str,
        about("Validation ROUGE that selects weights: rouge1, rouge2, rougeLsum, or the mean of several joined by +."),
    ] = "rouge2"
    positive_weight: Annotated[Positive, about("Weight of the oracle's units in the loss.")] = 1.0
    lead: Annotated[
        Share, about("Share of the lead in the targets; 0.2 gives 0.8 times the label, plus 0.2 for the first `units`.")
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
