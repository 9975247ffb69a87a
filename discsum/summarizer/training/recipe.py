"""What a training run of a summarizer is made of."""

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
    """A training run of an extractive summarizer: what is said of every run, and this."""

    unit: Annotated[str, one_of(UNITS, "What summaries are made of.")] = "sentence"
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
            "Whether units are encoded anew each step, with the encoder's dropout, as in the paper; otherwise their "
            "vectors are computed once."
        ),
    ] = False
    encoder_layers: Annotated[
        Natural, about("How many of the encoder's last layers are trained too; units are then encoded each step.")
    ] = 0
    encoder_rate: Annotated[Positive, about("Peak learning rate of these layers.")] = 3e-5
    units: Annotated[Count, about("Units a summary has.")] = 3
    oracle: Annotated[str, one_of(ORACLES, "Name of the oracle that labels units.")] = "rouge12-f"
    oracle_units: Annotated[Count | None, about("Units the oracle may take, at most.")] = None
    synthesizer: Annotated[
        SynthesizerConfig, about("Sizes and head of the network; width and features follow from the inputs.")
    ] = field(default_factory=SynthesizerConfig)
    features: Annotated[bool, about("Whether the network reads the units' layout features beside their vectors.")] = (
        True
    )
    choose: Annotated[
        str,
        about(
            "Validation ROUGE F1 by which weights are kept: one of rouge1, rouge2, rougeLsum, or the mean of several "
            "joined by +."
        ),
    ] = "rouge2"
    positive_weight: Annotated[Positive, about("Weight of the units of the oracle in the loss.")] = 1.0
    lead: Annotated[
        Share,
        about(
            "Weight of the lead in what is learned, the rest being the oracle: 0.2 makes 0.2 the least target of "
            "each of the first `units` units and 0.8 the most of all others."
        ),
    ] = 0.0

    def problems(self) -> list[str]:
        """Return what is wrong with the fields."""
        found = super().problems()
        found += [f"synthesizer.{problem}" for problem in self.synthesizer.head_problems()]
        if not set(self.chosen_by) <= set(METRICS):
            found.append(f"choose: expected some of {', '.join(METRICS)} joined by +, got {self.choose!r}")
        if self.oracle in ORACLES and ORACLES.facts(self.oracle).get("edu_only") and self.unit != "edu":
            found.append(f"oracle: expected {self.oracle} with unit edu only")
        return found

    @property
    def encodes(self) -> bool:
        """Whether units are encoded in training; otherwise their vectors are part of the data."""
        return self.encode_each_step or self.encoder_layers > 0

    @property
    def chosen_by(self) -> tuple[str, ...]:
        """The metrics whose mean is what weights are chosen by."""
        return tuple(self.choose.split("+"))
