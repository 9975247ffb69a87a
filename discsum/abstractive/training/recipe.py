"""Recipes of abstractive summarizers."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated, Any, ClassVar

from msgspec import Meta

from discsum.abstractive.family import Family
from discsum.abstractive.sparse.family import SparseFamily
from discsum.abstractive.sparse.objective import Objective
from discsum.abstractive.sparse.selectors import ALL, names, sentence_encoders
from discsum.abstractive.training.scratch import Scratch
from discsum.recipes.fields import Count, about, one_of
from discsum.training.recipe import RunRecipe

# The target: summaries, or the original of a masked (infill) or masked and shuffled (denoise) text.
TASKS = ("summarize", "infill", "denoise")
# Start and end tokens, and some words.
SHORTEST = 8


@dataclass(frozen=True, kw_only=True)
class AbstractiveRecipe(RunRecipe):
    """Settings of a training run of an abstractive summarizer; those of the selector are of the sparse family."""

    # The family of the model.
    family: ClassVar[type[Family]] = SparseFamily
    epochs: int = 1
    batch: int = 2
    rate: float = 1.41e-5
    schedule: str = "noam"
    decay: float = 0.0
    average: float = 0.0
    model: Annotated[
        str | None,
        about("Folder of the model to start from, or `hf:NAME` from the hub; none to start from random weights."),
    ] = None
    scratch: Annotated[Scratch, about("Sizes of a model with random weights.")] = field(default_factory=Scratch)
    task: Annotated[
        str,
        one_of(
            TASKS,
            "`summarize`; or `infill` or `denoise`, the pretraining of BART (Lewis et al. 2020): restoring a text from "
            "one with masked spans, or with masked spans and shuffled sentences.",
        ),
    ] = "summarize"
    selector: Annotated[str, one_of(names, "Selects the sentences that are read.")] = ALL
    beta: Annotated[
        float | None,
        about(
            "Initial weight of the discourse prior, which is then learned; none to leave it out. A model that was "
            "trained with the prior keeps its weight."
        ),
    ] = None
    options: Annotated[dict[str, Any], about("The selector's own, as `feature_map`.")] = field(default_factory=dict)
    r: Annotated[Count, about("Sentences that integrated training reads, and the trained model by default.")] = 5
    objective: Annotated[Objective, about("What is minimised.")] = field(default_factory=Objective)
    source_tokens: Annotated[Count, about("Tokens of a document that are read, at most.")] = 1024
    target_tokens: Annotated[
        Annotated[int, Meta(ge=SHORTEST)],
        about("Tokens of a summary that are learned, at most, or of a text that is restored: its beginning."),
    ] = 200

    def problems(self) -> list[str]:
        """Return what is wrong with the fields."""
        mode = self.objective.mode
        found = super().problems()
        if self.objective.selects and self.selector == ALL:
            found.append(f"selector: expected one that selects for the mode {mode}, got {self.selector!r}")
        if mode == "kl" and self.selector not in sentence_encoders() and self.beta is None:
            found.append(
                f"selector: expected one that learns ({', '.join(sentence_encoders())}), or a beta, for the mode kl, "
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
        return found
