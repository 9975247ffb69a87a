"""What every training run of a summarizer says, whatever is learned."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from discsum.constants import SHIPPED_PARSER
from discsum.errors import InputError
from discsum.recipes.sources import Source
from discsum.training.schedule import SCHEDULES

POSITIVE = ("epochs", "steps", "validate_every", "patience", "sample", "batch", "rate")


@dataclass(frozen=True)
class RunRecipe:
    """Documents, length, optimiser and chance of a run.

    Attributes:
        train: Documents to learn from: dataset folders, or tables of texts with summaries.
        validation: Documents to choose by; none of them may be in `train`.
        sample: How many documents are drawn from all of `train`, once and for good, as in a low-resource study.
        draw: Seed of that drawing.
        parser: Parser that finds sentences and EDUs and makes the trees.
        epochs: Passes over as many documents as `train` has.
        steps: Steps of the run, instead of `epochs`.
        validate_every: Steps between validations; by default those of one pass.
        patience: Validations without a better one after which the run ends; by default it goes on to its last step.
        batch: Documents a step, over all processes.
        rate: Peak learning rate.
        schedule: How the rate falls after it rose: `cosine` or `noam`.
        warmup: Share of the steps in which the rate rises.
        decay: Weight decay.
        average: Decay of the running average of the weights, which is what is kept.
        clip: Largest norm of the gradients; longer ones are shortened to it. 0 for any.
        license: Licence of the weights, for the model card.
        bf16: Whether the network computes in bfloat16 on a GPU that can.
        seed: Seed of everything random but `draw`.
    """

    train: tuple[Source, ...]
    validation: tuple[Source, ...]
    sample: int | None = None
    draw: int = 1
    parser: str = SHIPPED_PARSER
    epochs: int = 12
    steps: int | None = None
    validate_every: int | None = None
    patience: int | None = None
    batch: int = 32
    rate: float = 5e-4
    schedule: str = "cosine"
    warmup: float = 0.1
    decay: float = 0.01
    average: float = 0.98
    clip: float = 1.0
    license: str = ""
    bf16: bool = True
    seed: int = 1

    def __post_init__(self) -> None:
        """Check the fields together and report every problem at once."""
        problems = self.problems()
        if problems:
            raise InputError("; ".join(problems))

    def problems(self) -> list[str]:
        """Return what is wrong with the fields; recipes of a kind add what is wrong with theirs."""
        found = [*self.not_among("schedule", SCHEDULES), *self.not_above_zero(POSITIVE)]
        if self.seed < 0 or self.draw < 0:
            found.append(f"seed, draw: expected at least 0, got {self.seed} and {self.draw}")
        found += [
            f"{name}: expected at least 0, got {getattr(self, name)}"
            for name in ("decay", "clip")
            if not getattr(self, name) >= 0
        ]
        found += self.not_shares(("warmup", "average"))
        found += [
            f"{name}: expected at least one source" for name in ("train", "validation") if not getattr(self, name)
        ]
        return found

    def not_among(self, name: str, allowed: Sequence[str]) -> list[str]:
        """Return what is wrong with a field that must be one of some words."""
        value = getattr(self, name)
        return [] if value in allowed else [f"{name}: expected one of {', '.join(allowed)}, got {value!r}"]

    def not_above_zero(self, names: Sequence[str]) -> list[str]:
        """Return what is wrong with fields that must be above 0, or none."""
        values = {name: getattr(self, name) for name in names}
        return [
            f"{name}: expected a number above 0, got {value}"
            for name, value in values.items()
            if value is not None and not value > 0
        ]

    def not_shares(self, names: Sequence[str]) -> list[str]:
        """Return what is wrong with fields that must be from 0 to 1."""
        return [
            f"{name}: expected a number in [0, 1], got {getattr(self, name)}"
            for name in names
            if not 0.0 <= getattr(self, name) <= 1.0
        ]

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as a dictionary."""
        named = {"train": self.train, "validation": self.validation}
        return asdict(self) | {name: tuple(source.to_dict() for source in sources) for name, sources in named.items()}
