"""What a training run of an abstractive summarizer is made of."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from discsum.abstractive.sparse.selectors import ALL, SENTENCE_ENCODERS, names
from discsum.abstractive.training.objective import Objective
from discsum.abstractive.training.scratch import Scratch
from discsum.errors import InputError
from discsum.recipes.fields import mistaken
from discsum.recipes.sources import Source, sources
from discsum.training.recipe import RunRecipe

# What is written: summaries, or the text that was masked (infill), or masked and shuffled (denoise).
TASKS = ("summarize", "infill", "denoise")
# What begins and ends a summary, and some words.
SHORTEST = 8


@dataclass(frozen=True)
class AbstractiveRecipe(RunRecipe):
    """A training run of an abstractive summarizer: what is said of every run, and this.

    Attributes:
        model: Folder of a model to begin with, or `hf:NAME` from the hub; none to begin with random weights.
        scratch: Sizes of a model with random weights.
        task: `summarize`; or `infill` or `denoise`, by which BART learns to read and write before it sees summaries
            (Lewis et al. 2020): a text with masked spans, or one of shuffled sentences with masked spans, is written
            as it was.
        selector: Which sentences are read; see `discsum.abstractive.sparse.selectors.names()`.
        beta: Weight of the discourse prior at the beginning, which is then learned; none to leave it out. A model that
            was trained with the prior keeps what it learned.
        options: The selector's own, as `feature_map`.
        r: Sentences that integrated training reads, and the model by default after it.
        objective: What is minimised.
        source_tokens: Tokens of a document that are read, at most.
        target_tokens: Tokens of a summary that are learned, at most, or of a text that is restored: its beginning.
    """

    epochs: int = 1
    batch: int = 2
    rate: float = 1.41e-5
    schedule: str = "noam"
    decay: float = 0.0
    average: float = 0.0
    model: str | None = None
    scratch: Scratch = field(default_factory=Scratch)
    task: str = "summarize"
    selector: str = ALL
    beta: float | None = None
    options: dict[str, Any] = field(default_factory=dict)
    r: int = 5
    objective: Objective = field(default_factory=Objective)
    source_tokens: int = 1024
    target_tokens: int = 200

    def problems(self) -> list[str]:
        """Return what is wrong with the fields."""
        mode = self.objective.mode
        found = [*self.not_among("task", TASKS), *self.not_among("selector", names())]
        if self.objective.selects and self.selector == ALL:
            found.append(f"selector: expected one that selects for the mode {mode}, got {self.selector!r}")
        if mode == "kl" and self.selector not in SENTENCE_ENCODERS and self.beta is None:
            found.append(
                f"selector: expected one that learns ({', '.join(SENTENCE_ENCODERS)}), or a beta, for the mode kl, "
                f"got {self.selector!r}"
            )
        if self.task != "summarize" and self.beta is not None:
            found.append(f"beta: expected none for the task {self.task}, whose texts have no tree")
        if self.model is None:
            most = self.scratch.positions
            found += [
                f"{name}: expected at most scratch.positions {most}, got {getattr(self, name)}"
                for name in ("source_tokens", "target_tokens")
                if getattr(self, name) > most
            ]
        if self.target_tokens < SHORTEST:
            found.append(f"target_tokens: expected at least {SHORTEST}, got {self.target_tokens}")
        return found + super().problems() + self.not_above_zero(("r", "source_tokens"))

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
