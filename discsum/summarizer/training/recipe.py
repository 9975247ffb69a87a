"""Recipes of extractive summarizers."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated

from discsum.constants import DEFAULT_UNITS, UNITS
from discsum.encoder.synthesizer import SynthesizerConfig
from discsum.metrics.rouge import METRICS
from discsum.oracles import ORACLES, is_edu_only
from discsum.recipes.fields import Count, ModelName, Natural, NotNegative, Positive, Share, about, one_of
from discsum.training.recipe import RunRecipe


@dataclass(frozen=True)
class SummarizerRecipe(RunRecipe):
    """Settings of a training run of an extractive summarizer."""

    unit: Annotated[str, one_of(UNITS, "Unit of the summaries.")] = "sentence"
    start: Annotated[
        ModelName | None,
        about("A summarizer, of either unit, whose matching layers initialise the run."),
    ] = None
    vectors: Annotated[
        ModelName,
        about(
            "`contextual`, `discourse` or `isolated` vectors of the parser's encoder, or a Hugging Face encoder's name."
        ),
    ] = "contextual"
    encode_each_step: Annotated[
        bool, about("Whether to encode units anew in each step, with the encoder's dropout, instead of once.")
    ] = False
    encoder_layers: Annotated[
        Natural, about("Number of the encoder's last layers to train; units are then encoded in each step.")
    ] = 0
    encoder_window: Annotated[
        Count | None,
        about(
            "Subwords per window of an encoder that encodes units in each step; by default as in the parser, or for a "
            "Hugging Face encoder up to 512."
        ),
    ] = None
    encoder_learning_rate: Annotated[Positive, about("Peak learning rate of these layers.")] = 3e-5
    read_units: Annotated[
        Count | None,
        about("Number of units to which training documents are truncated; by default `synthesizer.max_units`."),
    ] = None
    units: Annotated[Count | None, about("Number of units of a summary; by default 3 sentences or 6 EDUs.")] = None
    block_trigrams: Annotated[
        bool, about("Whether to skip units that share a trigram with the summary, in validation and by default.")
    ] = False
    redundancy: Annotated[
        NotNegative,
        about("Penalty on units' log-odds: this weight times the share of their bigrams that are in the summary."),
    ] = 0.0
    brevity: Annotated[
        NotNegative,
        about("Penalty on units' log-odds: this weight per word of an EDU, or per word of a sentence after the 20th."),
    ] = 0.0
    sentence_model: Annotated[
        ModelName | None,
        about("Name or folder of a summarizer of sentences; an EDU's log-odds are averaged with its sentence's."),
    ] = None
    sentence_share: Annotated[Share, about("Share of the sentence in that average.")] = 0.5
    oracle: Annotated[str, one_of(ORACLES, "Name of the oracle that labels units.")] = "rouge12-f"
    oracle_units: Annotated[Count | None, about("Maximum number of units that the oracle selects.")] = None
    synthesizer: Annotated[
        SynthesizerConfig, about("Sizes and head of the network; the inputs determine width and features.")
    ] = field(default_factory=SynthesizerConfig)
    features: Annotated[bool, about("Whether the network reads layout features besides unit vectors.")] = True
    validation_metric: Annotated[
        str,
        about("Validation ROUGE that selects the weights: rouge1, rouge2, rougeLsum, or several joined by + (mean)."),
    ] = "rouge2"
    listwise: Annotated[
        Share,
        about("Share of the list-wise loss, whose targets are the units' own ROUGE; the rest is the loss on labels."),
    ] = 0.0
    temperature: Annotated[
        Positive, about("Temperature of the softmax over the units' R1-F + R2-F, which gives the list-wise targets.")
    ] = 0.1
    positive_weight: Annotated[Positive, about("Weight in the loss of the units that the oracle selects.")] = 1.0
    lead_share: Annotated[
        Share, about("Share of the lead in the targets; 0.2 gives 0.8 times the label, plus 0.2 for the first `units`.")
    ] = 0.0

    def problems(self) -> list[str]:
        """Return the problems of the combination of fields."""
        found = super().problems()
        found += [f"synthesizer.{problem}" for problem in self.synthesizer.head_problems()]
        if not set(self.chosen_by) <= set(METRICS):
            names, given = ", ".join(METRICS), self.validation_metric
            found.append(f"validation_metric: expected one or more of {names} joined by +, got {given!r}")
        if is_edu_only(self.oracle) and self.unit != "edu":
            found.append(f"oracle: expected {self.oracle} with unit edu only")
        if self.sentence_model is not None and self.unit != "edu":
            found.append(f"sentence_model: expected none with unit {self.unit}, got {self.sentence_model}")
        limit = self.synthesizer.max_units
        if self.read_units is not None and self.read_units > limit:
            found.append(f"read_units: expected at most synthesizer.max_units, {limit}, got {self.read_units}")
        if self.encoder_window is not None and not self.encodes:
            found.append(
                "encoder_window: expected no window if units are not encoded during training (encoder_layers, "
                f"encode_each_step), got {self.encoder_window}"
            )
        return found

    def without_effect(self) -> list[str]:
        """Return a line for each field that is set but has no effect beside the others."""
        found = super().without_effect()
        if self.encoder_layers == 0:
            found += self.unused("encoder_learning_rate", why="without trained layers (encoder_layers)")
        if self.sentence_model is None:
            found += self.unused("sentence_share", why="without a summarizer of sentences (sentence_model)")
        if self.listwise == 0:
            found += self.unused("temperature", why="without the list-wise loss (listwise)")
        if self.listwise == 1:
            found += self.unused("positive_weight", why="without the loss on labels (listwise is 1)")
        return found

    @property
    def summary_units(self) -> int:
        """Number of units of a summary."""
        return DEFAULT_UNITS[self.unit] if self.units is None else self.units

    @property
    def encodes(self) -> bool:
        """Whether units are encoded during training; otherwise the dataset has their vectors."""
        return self.encode_each_step or self.encoder_layers > 0

    @property
    def chosen_by(self) -> tuple[str, ...]:
        """The metrics whose mean selects the weights."""
        return tuple(self.validation_metric.split("+"))
