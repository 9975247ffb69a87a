"""What every training run says, whatever is learned; and what every run of a summarizer says."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

from discsum.constants import SHIPPED_PARSER
from discsum.recipes.fields import Checked, Count, Natural, NotNegative, Positive, Share, about, one_of
from discsum.recipes.sources import Sources
from discsum.training.schedule import SCHEDULES


@dataclass(frozen=True, kw_only=True)
class TrainingRecipe(Checked):
    """Length, optimiser and chance of a run of `discsum.training.loop`."""

    epochs: Annotated[Count, about("Passes over as many documents as there are to learn from.")] = 12
    steps: Annotated[Count | None, about("Steps of the run, instead of `epochs`.")] = None
    stop: Annotated[
        Natural, about("Epochs after which the run ends, before its rates have fallen; 0 for all of them.")
    ] = 0
    validate_every: Annotated[Count | None, about("Steps between validations; by default those of one pass.")] = None
    patience: Annotated[
        Count | None,
        about("Validations without a better one after which the run ends; by default it goes on to its last step."),
    ] = None
    batch: Annotated[Count, about("Documents a step, over all processes.")] = 32
    accumulate: Annotated[
        Count, about("Parts of a step's documents that are learned from one after another, for less memory.")
    ] = 1
    rate: Annotated[Positive, about("Peak learning rate.")] = 5e-4
    schedule: Annotated[str, one_of(SCHEDULES, "How the rate falls after it rose.")] = "cosine"
    warmup: Annotated[Share, about("Share of the steps in which the rate rises.")] = 0.1
    plateau: Annotated[
        Share, about("What the rate is multiplied by at every validation that is no better than the best before it.")
    ] = 1.0
    decay: Annotated[NotNegative, about("Weight decay.")] = 0.01
    average: Annotated[Share, about("Decay of the running average of the weights, which is what is kept.")] = 0.98
    clip: Annotated[
        NotNegative, about("Largest norm of the gradients; longer ones are shortened to it. 0 for any.")
    ] = 1.0
    bf16: Annotated[bool, about("Whether the network computes in bfloat16 on a GPU that can.")] = True
    seed: Annotated[Natural, about("Seed of everything random.")] = 1

    def problems(self) -> list[str]:
        """Return what is wrong with fields that do not fit together."""
        found = super().problems()
        if self.stop > self.epochs:
            found.append(f"stop: expected 0 to {self.epochs} epochs, got {self.stop}")
        if self.accumulate > self.batch:
            found.append(f"accumulate: expected at most batch {self.batch}, got {self.accumulate}")
        return found


@dataclass(frozen=True)
class RunRecipe(TrainingRecipe):
    """A training run of a summarizer: what is said of every run, and its documents."""

    train: Annotated[Sources, about("Documents to learn from: dataset folders, or tables of texts with summaries.")]
    validation: Annotated[Sources, about("Documents to choose by; none of them may be in `train`.")]
    sample: Annotated[
        Count | None,
        about("How many documents are drawn from all of `train`, once and for good, as in a low-resource study."),
    ] = None
    draw: Annotated[Natural, about("Seed of that drawing.")] = 1
    parser: Annotated[str, about("Parser that finds sentences and EDUs and makes the trees.")] = SHIPPED_PARSER
    license: Annotated[str, about("Licence of the weights, for the model card.")] = ""

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as a dictionary."""
        both = {"train": self.train, "validation": self.validation}
        return super().to_dict() | {name: tuple(source.to_dict() for source in each) for name, each in both.items()}
