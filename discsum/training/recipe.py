"""What a training run of a summarizer is made of."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from discsum.choices import SHIPPED_PARSER, UNITS
from discsum.encoder.heads import head_type
from discsum.encoder.synthesizer import SynthesizerConfig
from discsum.errors import InputError
from discsum.oracles import ORACLES
from discsum.recipes.fields import mistaken
from discsum.recipes.sources import Source, sources
from discsum.rouge import METRICS
from discsum.training.schedule import SCHEDULES

POSITIVE = (
    *("epochs", "steps", "validate_every", "patience", "sample", "batch", "units"),
    *("rate", "encoder_rate", "positive_weight"),
)


@dataclass(frozen=True)
class SummarizerRecipe:
    """A training run of an extractive summarizer.

    Attributes:
        train: Documents to learn from: dataset folders, or tables of texts with summaries.
        validation: Documents to choose by; none of them may be in `train`.
        sample: How many documents are drawn from all of `train`, once and for good, as in a low-resource study.
        draw: Seed of that drawing.
        unit: `sentence` or `edu`.
        vectors: `contextual`, `discourse`, `isolated`, or a Hugging Face encoder, as in `SummarizerConfig`.
        parser: Parser that makes the trees, whose encoder makes the first three kinds of vectors.
        encode_each_step: Whether units are encoded anew each step, with the encoder's dropout, as in the paper;
            otherwise their vectors are computed once.
        encoder_layers: How many of the encoder's last layers are trained too; units are then encoded each step.
        encoder_rate: Peak learning rate of these layers.
        units: Units a summary has.
        oracle: Name of the oracle that labels units.
        oracle_units: Units the oracle may take, at most.
        synthesizer: Sizes and head of the network; width and features follow from the inputs.
        features: Whether the network reads the units' layout features beside their vectors.
        epochs: Passes over as many documents as `train` has.
        steps: Steps of the run, instead of `epochs`.
        validate_every: Steps between validations; by default those of one pass.
        patience: Validations without a better one after which the run ends; by default it goes on to its last step.
        choose: Validation ROUGE F1 by which weights are kept: one of rouge1, rouge2, rougeLsum, or the mean of several
            joined by +.
        batch: Documents a step, over all processes.
        rate: Peak learning rate.
        schedule: How the rate falls after it rose: `cosine` or `noam`.
        warmup: Share of the steps in which the rate rises.
        decay: Weight decay.
        average: Decay of the running average of the weights, which is what is kept.
        clip: Largest norm of the gradients; longer ones are shortened to it. 0 for any.
        positive_weight: Weight of the units of the oracle in the loss.
        lead: Weight of the lead in what is learned, the rest being the oracle: 0.2 makes 0.2 the least target of each
            of the first `units` units and 0.8 the most of all others.
        license: Licence of the weights, for the model card.
        bf16: Whether the network computes in bfloat16 on a GPU that can.
        seed: Seed of everything random but `draw`.
    """

    train: tuple[Source, ...]
    validation: tuple[Source, ...]
    sample: int | None = None
    draw: int = 1
    unit: str = "sentence"
    vectors: str = "contextual"
    parser: str = SHIPPED_PARSER
    encode_each_step: bool = False
    encoder_layers: int = 0
    encoder_rate: float = 3e-5
    units: int = 3
    oracle: str = "rouge12-f"
    oracle_units: int | None = None
    synthesizer: SynthesizerConfig = field(default_factory=SynthesizerConfig)
    features: bool = True
    epochs: int = 12
    steps: int | None = None
    validate_every: int | None = None
    patience: int | None = None
    choose: str = "rouge2"
    batch: int = 32
    rate: float = 5e-4
    schedule: str = "cosine"
    warmup: float = 0.1
    decay: float = 0.01
    average: float = 0.98
    clip: float = 1.0
    positive_weight: float = 1.0
    lead: float = 0.0
    license: str = ""
    bf16: bool = True
    seed: int = 1

    def __post_init__(self) -> None:
        """Check the fields together and report every problem at once."""
        choices = (("unit", UNITS), ("oracle", tuple(ORACLES)), ("schedule", SCHEDULES))
        problems = [
            f"{name}: expected one of {', '.join(allowed)}, got {getattr(self, name)!r}"
            for name, allowed in choices
            if getattr(self, name) not in allowed
        ]
        for name in (self.synthesizer.head, *self.synthesizer.mixture):
            try:
                head_type(name)
            except InputError as error:
                problems.append(f"synthesizer.head: {error}")
        problems += [
            f"{name}: expected a number above 0, got {getattr(self, name)}"
            for name in POSITIVE
            if getattr(self, name) is not None and not getattr(self, name) > 0
        ]
        if not set(self.chosen_by) <= set(METRICS):
            problems.append(f"choose: expected some of {', '.join(METRICS)} joined by +, got {self.choose!r}")
        problems += [
            f"{name}: expected at least 0, got {getattr(self, name)}"
            for name in ("decay", "clip")
            if not getattr(self, name) >= 0
        ]
        if self.seed < 0 or self.draw < 0:
            problems.append(f"seed, draw: expected at least 0, got {self.seed} and {self.draw}")
        if self.encoder_layers < 0:
            problems.append(f"encoder_layers: expected at least 0, got {self.encoder_layers}")
        if self.oracle == "discobert-edu" and self.unit != "edu":
            problems.append("oracle: expected discobert-edu with unit edu only")
        problems += [
            f"{name}: expected a number in [0, 1], got {getattr(self, name)}"
            for name in ("warmup", "average", "lead")
            if not 0.0 <= getattr(self, name) <= 1.0
        ]
        problems += [
            f"{name}: expected at least one source" for name in ("train", "validation") if not getattr(self, name)
        ]
        if problems:
            raise InputError("; ".join(problems))

    @property
    def encodes(self) -> bool:
        """Whether units are encoded in training; otherwise their vectors are part of the data."""
        return self.encode_each_step or self.encoder_layers > 0

    @property
    def chosen_by(self) -> tuple[str, ...]:
        """The metrics whose mean is what weights are chosen by."""
        return tuple(self.choose.split("+"))

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as a dictionary."""
        return asdict(self)

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
