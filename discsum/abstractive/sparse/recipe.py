"""Recipes of the sparse family."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated, Any

from discsum.abstractive.long_input import size_problems
from discsum.abstractive.recipe import AbstractiveRecipe
from discsum.abstractive.scratch import Scratch
from discsum.abstractive.sparse.objective import Objective
from discsum.abstractive.sparse.selectors import ALL, learned_selectors, learns, names
from discsum.recipes.fields import Count, about, one_of


@dataclass(frozen=True, kw_only=True)
class SparseRecipe(AbstractiveRecipe):
    """Settings of a training run of a model whose cross-attention may be sparse (Manakul and Gales 2021)."""

    scratch: Annotated[Scratch, about("Sizes of a model with random weights.")] = field(default_factory=Scratch)
    positions: Annotated[
        Count | None,
        about(
            "Maximum number of input tokens of the trained model, if it is to read longer texts than `model`, a BART: "
            "position embeddings are repeated, and the encoder attends within `window`, as in LoBART. A multiple of "
            "`window`."
        ),
    ] = None
    window: Annotated[
        Count, about("Tokens that a token attends to in an encoder with more `positions`, half of them on each side.")
    ] = 1024
    selector: Annotated[str, one_of(names, "Selector of the sentences to read.")] = ALL
    beta: Annotated[
        float | None,
        about(
            "Initial weight of the discourse prior, which is then learned; none to leave it out. A model that was "
            "trained with the prior keeps its weight."
        ),
    ] = None
    options: Annotated[dict[str, Any], about("The selector's options, such as `feature_map`.")] = field(
        default_factory=dict
    )
    r: Annotated[Count, about("Sentences read per step in integrated training; also the trained model's default.")] = 5
    objective: Annotated[Objective, about("Training objective.")] = field(default_factory=Objective)

    def problems(self) -> list[str]:
        """Return what is wrong with the fields."""
        mode = self.objective.mode
        found = super().problems()
        if self.objective.selects and self.selector == ALL:
            found.append(f"selector: expected one that selects sentences for the mode {mode}, got {self.selector!r}")
        if not self.objective.selects and (self.selector != ALL or self.beta is not None):
            given = f"selector {self.selector}" if self.beta is None else f"beta {self.beta}"
            found.append(
                f"selector, beta: expected neither for the mode {mode}, which reads all sentences, got {given}"
            )
        if mode == "kl" and self.beta is None and self.selector in names() and not learns(self.selector, self.options):
            found.append(
                f"selector: expected one that learns ({', '.join(learned_selectors())}), or a beta, for the mode kl, "
                f"got {self.selector!r}"
            )
        if self.model is None and self.positions is not None:
            found.append("positions: expected none without a model; set scratch.positions")
        if self.positions is not None:
            found += size_problems(self.positions, self.window)
            if self.source_tokens > self.positions:
                found.append(f"source_tokens: expected at most positions {self.positions}, got {self.source_tokens}")
        if self.model is None and mode == "kl":
            found.append("model: expected a trained one for the mode kl, in which only the selector learns, got none")
        if self.task != "summarize" and self.beta is not None:
            found.append(f"beta: expected none for the task {self.task}, whose texts have no tree")
        return found + self.beyond(self.scratch.positions, "scratch.positions")

    def without_effect(self) -> list[str]:
        """Return a line for each field that is set but has no effect beside the others."""
        mode = self.objective.mode
        found = super().without_effect() + [f"objective.{line}" for line in self.objective.without_effect()]
        found += [] if self.positions is not None else self.unused("window", why="without positions")
        return found if self.objective.selects else found + self.unused("r", why=f"in the mode {mode}")
