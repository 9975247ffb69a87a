"""What every training run of a summarizer says, whatever is learned."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

from discsum.constants import SHIPPED_PARSER
from discsum.recipes.fields import Checked, Count, Natural, NotNegative, Positive, Share, about, one_of
from discsum.recipes.sources import Sources
from discsum.training.schedule import SCHEDULES


@dataclass(frozen=True)
class RunRecipe(Checked):
    """Documents, length, optimiser and chance of a run."""

    train: Annotated[Sources, about("Documents to learn from: dataset folders, or tables of texts with summaries.")]
    validation: Annotated[Sources, about("Documents to choose by; none of them may be in `train`.")]
    sample: Annotated[
        Count | None,
        about("How many documents are drawn from all of `train`, once and for good, as in a low-resource study."),
    ] = None
    draw: Annotated[Natural, about("Seed of that drawing.")] = 1
    parser: Annotated[str, about("Parser that finds sentences and EDUs and makes the trees.")] = SHIPPED_PARSER
    epochs: Annotated[Count, about("Passes over as many documents as `train` has.")] = 12
    steps: Annotated[Count | None, about("Steps of the run, instead of `epochs`.")] = None
    validate_every: Annotated[Count | None, about("Steps between validations; by default those of one pass.")] = None
    patience: Annotated[
        Count | None,
        about("Validations without a better one after which the run ends; by default it goes on to its last step."),
    ] = None
    batch: Annotated[Count, about("Documents a step, over all processes.")] = 32
    rate: Annotated[Positive, about("Peak learning rate.")] = 5e-4
    schedule: Annotated[str, one_of(SCHEDULES, "How the rate falls after it rose.")] = "cosine"
    warmup: Annotated[Share, about("Share of the steps in which the rate rises.")] = 0.1
    decay: Annotated[NotNegative, about("Weight decay.")] = 0.01
    average: Annotated[Share, about("Decay of the running average of the weights, which is what is kept.")] = 0.98
    clip: Annotated[
        NotNegative, about("Largest norm of the gradients; longer ones are shortened to it. 0 for any.")
    ] = 1.0
    license: Annotated[str, about("Licence of the weights, for the model card.")] = ""
    bf16: Annotated[bool, about("Whether the network computes in bfloat16 on a GPU that can.")] = True
    seed: Annotated[Natural, about("Seed of everything random but `draw`.")] = 1

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as a dictionary."""
        both = {"train": self.train, "validation": self.validation}
        return super().to_dict() | {name: tuple(source.to_dict() for source in each) for name, each in both.items()}
