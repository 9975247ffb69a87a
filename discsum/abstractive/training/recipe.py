"""What a training run of an abstractive summarizer is made of."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from discsum.abstractive.selectors import ALL, SENTENCE_ENCODERS, names
from discsum.abstractive.training.objective import Objective
from discsum.abstractive.training.scratch import Scratch
from discsum.choices import SHIPPED_PARSER
from discsum.errors import InputError
from discsum.recipes.fields import mistaken
from discsum.recipes.sources import Source, sources
from discsum.training.schedule import SCHEDULES

# What is written: summaries, or a text's sentences in their order, after they were shuffled and masked.
TASKS = ("summarize", "denoise")
POSITIVE = (
    *("epochs", "steps", "validate_every", "patience", "sample", "batch", "rate", "r", "source_tokens"),
    "target_tokens",
)


@dataclass(frozen=True)
class AbstractiveRecipe:
    """A training run of an abstractive summarizer.

    Attributes:
        train: Documents to learn from: dataset folders, or tables of texts with summaries.
        validation: Documents to choose by; none of them may be in `train`.
        model: Folder of a model to begin with, or `hf:NAME` from the hub; none to begin with random weights.
        scratch: Sizes of a model with random weights.
        task: `summarize`; or `denoise`, by which BART learns to read and write before it sees summaries (Lewis et al.
            2020): the text of shuffled sentences with masked spans is written as it was.
        sample: How many documents are drawn from all of `train`, once and for good.
        draw: Seed of that drawing.
        parser: Parser that finds sentences and makes trees.
        selector: Which sentences are read; see `discsum.abstractive.selectors.names()`.
        beta: Weight of the discourse prior at the beginning, which is then learned; none to leave it out. A model that
            was trained with the prior keeps what it learned.
        options: The selector's own, as `feature_map`.
        r: Sentences that integrated training reads, and the model by default after it.
        objective: What is minimised.
        source_tokens: Tokens of a document that are read, at most.
        target_tokens: Tokens of a summary that are learned, at most.
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
    model: str | None = None
    scratch: Scratch = field(default_factory=Scratch)
    task: str = "summarize"
    sample: int | None = None
    draw: int = 1
    parser: str = SHIPPED_PARSER
    selector: str = ALL
    beta: float | None = None
    options: dict[str, Any] = field(default_factory=dict)
    r: int = 5
    objective: Objective = field(default_factory=Objective)
    source_tokens: int = 1024
    target_tokens: int = 200
    epochs: int = 1
    steps: int | None = None
    validate_every: int | None = None
    patience: int | None = None
    batch: int = 2
    rate: float = 1.41e-5
    schedule: str = "noam"
    warmup: float = 0.1
    decay: float = 0.0
    average: float = 0.0
    clip: float = 1.0
    license: str = ""
    bf16: bool = True
    seed: int = 1

    def __post_init__(self) -> None:
        """Check the fields together and report every problem at once."""
        mode = self.objective.mode
        choices = (("task", TASKS), ("schedule", SCHEDULES), ("selector", names()))
        problems = [
            f"{name}: expected one of {', '.join(allowed)}, got {getattr(self, name)!r}"
            for name, allowed in choices
            if getattr(self, name) not in allowed
        ]
        if self.objective.selects and self.selector == ALL:
            problems.append(f"selector: expected one that selects for the mode {mode}, got {self.selector!r}")
        if mode == "kl" and self.selector not in SENTENCE_ENCODERS and self.beta is None:
            problems.append(
                f"selector: expected one that learns ({', '.join(SENTENCE_ENCODERS)}), or a beta, for the mode kl, "
                f"got {self.selector!r}"
            )
        if self.task == "denoise" and self.beta is not None:
            problems.append("beta: expected none for the task denoise, whose shuffled texts have no tree")
        problems += [
            f"{name}: expected a number above 0, got {getattr(self, name)}"
            for name in POSITIVE
            if getattr(self, name) is not None and not getattr(self, name) > 0
        ]
        problems += [
            f"{name}: expected a number in [0, 1], got {getattr(self, name)}"
            for name in ("warmup", "average")
            if not 0.0 <= getattr(self, name) <= 1.0
        ]
        problems += [
            f"{name}: expected at least 0, got {getattr(self, name)}"
            for name in ("decay", "clip")
            if not getattr(self, name) >= 0
        ]
        if self.seed < 0 or self.draw < 0:
            problems.append(f"seed, draw: expected at least 0, got {self.seed} and {self.draw}")
        problems += [
            f"{name}: expected at least one source" for name in ("train", "validation") if not getattr(self, name)
        ]
        if problems:
            raise InputError("; ".join(problems))

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as a dictionary."""
        return asdict(self)

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> AbstractiveRecipe:
        """Return the recipe of a YAML file's content; an unknown field is an error that lists the known ones."""
        settings = dict(data)
        train, wrong = sources("train", settings.pop("train", []), Source)
        validation, also_wrong = sources("validation", settings.pop("validation", []), Source)
        options = settings.pop("options", {})
        groups: dict[str, tuple[type, Any]] = {
            name: (kind, settings.pop(name, {})) for name, kind in (("scratch", Scratch), ("objective", Objective))
        }
        problems = mistaken(cls, settings, groups=("train", "validation", "options", *groups))
        for name, (kind, fields) in groups.items():
            if isinstance(fields, dict):
                problems += mistaken(kind, fields, f"{name}.")
            else:
                problems.append(f"{name}: expected a group of fields, got {fields!r}")
        if not isinstance(options, dict):
            problems.append(f"options: expected a group of fields, got {options!r}")
        problems += [*wrong, *also_wrong]
        if problems:
            raise InputError("; ".join(problems))
        made = {name: kind(**fields) for name, (kind, fields) in groups.items()}
        return cls(train, validation, options=options, **made, **settings)
