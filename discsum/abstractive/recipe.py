"""Recipe fields of abstractive summarizers of every family."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Self

from msgspec import Meta

from discsum.abstractive.families import DEFAULT, FAMILIES, family_class
from discsum.errors import InputError
from discsum.recipes.fields import Count, ModelName, about, one_of
from discsum.training.recipe import RunRecipe

# The target: summaries, or the original of a masked (infill) or masked and shuffled (denoise) text.
TASKS = ("summarize", "infill", "denoise")
OPTIMIZERS = ("adamw", "sgd")
# SHORTEST: tokens of the shortest target, which are start, end and a few words.
# FEWEST: words of the smallest vocabulary, six special ones and two others.
SHORTEST = FEWEST = 8
Vocabulary = Annotated[int, Meta(ge=FEWEST)]
# Defaults of the families with word tokenizers.
WORDS, LOWERCASE = 50_000, True


@dataclass(frozen=True, kw_only=True)
class AbstractiveRecipe(RunRecipe):
    """Settings of a training run of an abstractive summarizer; each family has a subclass with its own fields."""

    family: Annotated[str, one_of(FAMILIES, "Family of the model.")] = DEFAULT
    epochs: int = 1
    batch_size: int = 2
    learning_rate: float = 1.41e-5
    schedule: str = "noam"
    weight_decay: float = 0.0
    average: float = 0.0
    optimizer: Annotated[str, one_of(OPTIMIZERS, "Optimiser; `sgd` has no momentum.")] = "adamw"
    model: Annotated[
        ModelName | None,
        about("Folder of the model to start from, or `hf:NAME` from the hub; none to start from random weights."),
    ] = None
    task: Annotated[
        str,
        one_of(
            TASKS,
            "`summarize`, or a pretraining task of BART (Lewis et al. 2020) that restores a text: `infill` from masked "
            "spans, `denoise` from masked spans and shuffled sentences.",
        ),
    ] = "summarize"
    source_tokens: Annotated[Count, about("Maximum number of tokens read from a document.")] = 1024
    target_tokens: Annotated[
        Annotated[int, Meta(ge=SHORTEST)],
        about("Maximum number of target tokens; a longer summary, or text to restore, is truncated."),
    ] = 200
    target_lines: Annotated[
        Count | None,
        about("Number of lines of the first reference to learn (say, highlights); by default all of a random one."),
    ] = None

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """Return the recipe of the family that the field `family` names, from the content of a YAML or JSON file.

        Raises:
            InputError: An unknown family, or invalid fields as in `discsum.recipes.fields.convert`.
        """
        if cls is not AbstractiveRecipe:
            return super().from_dict(data)
        made: Any = family_class(data.get("family", DEFAULT)).recipe_type.from_dict(data)
        return made  # type: ignore[no-any-return]

    def without_effect(self) -> list[str]:
        """Return a line for each field that is set but has no effect beside the others."""
        found = super().without_effect()
        if self.optimizer == "sgd":
            found += self.unused("betas", why="with the optimizer sgd")
        if self.task != "summarize":
            found += self.unused("target_lines", why=f"with the task {self.task}")
        return found

    def beyond(self, positions: int, name: str) -> list[str]:
        """Return a problem for each token limit above the `positions` of a new model, which the field `name` sets."""
        limits = {"source_tokens": self.source_tokens, "target_tokens": self.target_tokens}
        return [
            f"{limit}: expected at most {name} {positions}, got {tokens}"
            for limit, tokens in limits.items()
            if self.model is None and tokens > positions
        ]


def check_kept(
    model: str, given: Mapping[str, Any], default: Mapping[str, Any], kept: Mapping[str, Any], group: str = ""
) -> None:
    """Check that a recipe that starts from `model` does not change fields that only a new model can choose.

    Args:
        model: Name of the model, for the message.
        given: The recipe's values by field.
        default: Default values by field, which are always accepted.
        kept: The model's own values by field.
        group: Group of these fields, with a period, for the message.

    Raises:
        InputError: Values that are neither the default nor the model's own; the message lists all of them.
    """
    wrong = [
        f"{group}{name}: expected {kept[name]}, which {model} was trained with, got {value}"
        for name, value in given.items()
        if value not in (default[name], kept[name])
    ]
    if wrong:
        raise InputError("; ".join(wrong))
