"""Recipe fields that all training runs share, and those that all runs of summarizers share."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

from msgspec import Meta

from discsum.constants import SHIPPED_PARSER
from discsum.recipes.fields import Checked, Count, ModelName, Natural, NotNegative, Positive, Seed, Share, about, one_of
from discsum.recipes.sources import Sources
from discsum.training.schedule import SCHEDULES

# AdamW accepts no decay rate of 1.
Decay = Annotated[float, Meta(ge=0, lt=1)]


@dataclass(frozen=True, kw_only=True)
class TrainingRecipe(Checked):
    """Length, optimiser and seed of a run of `discsum.training.loop`."""

    listed_by = "--fields lists all"

    epochs: Annotated[Count, about("Passes over the training documents, each rounded up to whole steps.")] = 12
    steps: Annotated[Count | None, about("Steps of the run, instead of `epochs`.")] = None
    stop_after: Annotated[
        Natural, about("Epochs after which the run ends for good, on an unchanged schedule; 0 for all.")
    ] = 0
    validate_every: Annotated[Count | None, about("Steps between validations; by default one epoch.")] = None
    patience: Annotated[
        Count | None, about("Validations without improvement after which the run stops; by default it never does.")
    ] = None
    batch_size: Annotated[int, Meta(ge=1, le=1_000_000), about("Documents per step, over all processes.")] = 32
    accumulate: Annotated[Count, about("Parts into which a step is split to save memory (gradient accumulation).")] = 1
    learning_rate: Annotated[Positive, about("Peak learning rate.")] = 5e-4
    schedule: Annotated[str, one_of(SCHEDULES, "How the learning rate falls after warm-up.")] = "cosine"
    warmup: Annotated[Share, about("Share of the steps in which the learning rate rises.")] = 0.1
    plateau: Annotated[
        Share,
        about(
            "Factor that multiplies the learning rate after the first validation without improvement and after every "
            "later one, even if it improves; 1 has no effect."
        ),
    ] = 1.0
    weight_decay: Annotated[NotNegative, about("Weight decay.")] = 0.01
    betas: Annotated[tuple[Decay, Decay], about("Decay rates of AdamW's first and second moments.")] = (0.9, 0.999)
    average: Annotated[Share, about("Decay of the running average of the weights, which is saved; 0 for none.")] = 0.98
    max_grad_norm: Annotated[NotNegative, about("Maximum norm of the gradients; 0 for no limit.")] = 1.0
    bf16: Annotated[
        bool, about("Whether to compute in bfloat16 on a GPU that has it; elsewhere as accelerate is configured.")
    ] = True
    seed: Annotated[Seed, about("Seed of the run.")] = 1

    def problems(self) -> list[str]:
        """Return the problems of the combination of fields."""
        found = super().problems()
        if self.steps is None and self.stop_after > self.epochs:
            found.append(f"stop_after: expected 0 to {self.epochs} epochs, got {self.stop_after}")
        if self.accumulate > self.batch_size:
            found.append(f"accumulate: expected at most batch_size {self.batch_size}, got {self.accumulate}")
        return found


@dataclass(frozen=True)
class RunRecipe(TrainingRecipe):
    """Fields that all runs of summarizers share: those of `TrainingRecipe`, documents, parser and licence."""

    train: Annotated[Sources, about("Training documents: dataset folders, or tables of texts with summaries.")]
    validation: Annotated[Sources, about("Validation documents; none of them may be in `train`.")]
    sample: Annotated[
        Count | None, about("Number of documents drawn from `train` once before training, as in a low-resource study.")
    ] = None
    sample_seed: Annotated[Seed, about("Seed of the sample.")] = 1
    parser: Annotated[ModelName, about("Parser of sentences, EDUs and trees; `hf:NAME` is on the hub.")] = (
        SHIPPED_PARSER
    )
    license: Annotated[str, about("Licence of the weights, for the model card.")] = ""

    @property
    def saved_weights(self) -> str:
        """What a model card calls the saved weights."""
        return "the running average of the run" if self.average else "those of the run"

    def without_effect(self) -> list[str]:
        """Return a line for each field that is set but has no effect beside the others, to be warned about."""
        found = self.unused("sample_seed", why="without sample") if self.sample is None else []
        if self.steps is not None:
            found += self.unused("epochs", why="with steps; leave out one of them")
        return found

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as a dictionary."""
        both = {"train": self.train, "validation": self.validation}
        return super().to_dict() | {name: tuple(source.to_dict() for source in each) for name, each in both.items()}
