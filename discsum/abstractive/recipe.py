"""Recipe fields of abstractive summarizers of every family."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Self

from msgspec import Meta

from discsum.abstractive.families import DEFAULT, FAMILIES, family_class
from discsum.errors import InputError
from discsum.recipes.fields import Count, Share, about, one_of
from discsum.training.recipe import RunRecipe

# The target: summaries, or the original of a masked (infill) or masked and shuffled (denoise) text.
TASKS = ("summarize", "infill", "denoise")
OPTIMIZERS = ("adamw", "sgd")
# Tokens of the shortest target: start and end, and some words; words of the smallest vocabulary: six special ones and
# two others.
SHORTEST = FEWEST = 8
Vocabulary = Annotated[int, Meta(ge=FEWEST)]
# Defaults of the families with tokenizers of words.
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
    optimizer: Annotated[str, one_of(OPTIMIZERS, "Optimiser; `sgd` is without momentum.")] = "adamw"
    betas: Annotated[tuple[Share, Share], about("Decay of AdamW's means of gradients and of their squares.")] = (
        0.9,
        0.999,
    )
    model: Annotated[
        str | None,
        about("Folder of the model to start from, or `hf:NAME` from the hub; none to start from random weights."),
    ] = None
    task: Annotated[
        str,
        one_of(
            TASKS,
            "`summarize`; or `infill` or `denoise`, the pretraining of BART (Lewis et al. 2020): restoring a text from "
            "one with masked spans, or with masked spans and shuffled sentences.",
        ),
    ] = "summarize"
    source_tokens: Annotated[Count, about("Tokens of a document that are read, at most.")] = 1024
    target_tokens: Annotated[
        Annotated[int, Meta(ge=SHORTEST)],
        about("Tokens of a summary that are learned, at most, or of a text that is restored: its beginning."),
    ] = 200
    target_lines: Annotated[
        Count | None,
        about("Lines of the first reference that are learned, as highlights; by default all of a random reference."),
    ] = None

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """Return the recipe of the family that `family` names, with the content of a YAML or JSON file.

        Raises:
            InputError: An unknown family, or fields as in `discsum.recipes.fields.convert`.
        """
        if cls is not AbstractiveRecipe:
            return super().from_dict(data)
        made: Any = family_class(data.get("family", DEFAULT)).recipe_type.from_dict(data)
        return made  # type: ignore[no-any-return]

    def beyond(self, positions: int, name: str) -> list[str]:
        """Return what is wrong with limits that a new model of `positions` tokens, the field `name`, cannot read."""
        limits = {"source_tokens": self.source_tokens, "target_tokens": self.target_tokens}
        return [
            f"{limit}: expected at most {name} {positions}, got {tokens}"
            for limit, tokens in limits.items()
            if self.model is None and tokens > positions
        ]


def check_kept(model: str, given: Mapping[str, Any], default: Mapping[str, Any], kept: Mapping[str, Any]) -> None:
    """Check fields that describe a new model, in a recipe that starts from `model`.

    Args:
        model: Its name, for the message.
        given: The recipe's values by field.
        default: Their defaults, which a recipe may have whatever the model is.
        kept: The model's own values.

    Raises:
        InputError: Values that are neither; all of them at once.
    """
    wrong = [
        f"{name}: expected {kept[name]}, as {model} was trained, got {value}"
        for name, value in given.items()
        if value not in (default[name], kept[name])
    ]
    if wrong:
        raise InputError("; ".join(wrong))
