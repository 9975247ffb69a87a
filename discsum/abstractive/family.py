"""Interface of a family of abstractive models: a folder beside this file implements it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from torch import Tensor, nn

from discsum.document import Document

if TYPE_CHECKING:
    from transformers import BatchEncoding

    from discsum.abstractive.training.recipe import AbstractiveRecipe

# Label of `transformers` where nothing is predicted.
IGNORED = -100


class Family(ABC):
    """A sequence-to-sequence model with its tokenizer, and what its family changes in running and training it."""

    def __init__(self, model: Any, tokenizer: Any, name: str) -> None:
        """Wrap a loaded model."""
        self.model, self.tokenizer, self.name = model.eval(), tokenizer, name

    @classmethod
    @abstractmethod
    def load(cls, name_or_path: str, *, device: str = "cpu", **options: Any) -> Self:
        """Return the model of a folder, or `hf:NAME` of the hub, with options of the family.

        Raises:
            WeightsError: No such model.
            InputError: A model that the family cannot use, or unknown options.
        """

    @abstractmethod
    def save(self, folder: Path) -> None:
        """Write the model, its tokenizer and the family's own files to a folder, all or nothing."""

    @abstractmethod
    def inputs(self, documents: Sequence[Document], encoding: BatchEncoding) -> dict[str, Any]:
        """Return additional arguments of `generate` and of `loss` for encoded documents.

        Raises:
            InputError: A document without the sentences or the tree that the model needs.
        """

    @abstractmethod
    def summary_fields(self, inputs: dict[str, Any]) -> list[dict[str, Any]]:
        """Return, for each document of `inputs`, fields of its `AbstractiveSummary`."""

    @classmethod
    @abstractmethod
    def for_training(
        cls, recipe: AbstractiveRecipe, device: str, scratch: tuple[Any, Any] | None, report: Callable[[str], None]
    ) -> Self:
        """Return the model that a run starts from: the recipe's, or `scratch`, a new model and its tokenizer."""

    @classmethod
    @abstractmethod
    def needs_tree(cls, recipe: AbstractiveRecipe) -> bool:
        """Return whether a run needs documents with trees."""

    @abstractmethod
    def trained_parameters(self, recipe: AbstractiveRecipe) -> list[nn.Parameter]:
        """Return the parameters that a run trains, after freezing the others."""

    @abstractmethod
    def loss(
        self, recipe: AbstractiveRecipe, batch: dict[str, Tensor], inputs: dict[str, Any], done: float, chances: Tensor
    ) -> dict[str, Tensor]:
        """Return the `loss` of a batch and its parts, means over tokens in nats.

        Args:
            recipe: Settings of the run.
            batch: Arguments of the model's forward pass; `labels` are `IGNORED` where nothing is learned.
            inputs: Result of `inputs` for the documents.
            done: Share of the first epoch that is done, from 0 to 1; 1 in validation.
            chances: `(documents,)` uniform random numbers.
        """
