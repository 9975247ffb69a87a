"""Interface of a family of abstractive models; each family implements it in a subpackage."""

from __future__ import annotations

import hashlib
import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Self, TypeVar

import torch
from torch import Tensor

from discsum.abstractive.folder import plain_tokenizer
from discsum.abstractive.recipe import AbstractiveRecipe
from discsum.document import Document
from discsum.files import replacing_folder, system_errors

if TYPE_CHECKING:
    from transformers import BatchEncoding

    from discsum.training.task import Step

# Label that the losses of transformers ignore.
IGNORED = -100

Recipe = TypeVar("Recipe", bound=AbstractiveRecipe)


def requested_options(options: Mapping[str, Any]) -> str:
    """Return the options of `load` that ask for something, for messages; empty if all have their defaults."""
    names = [name for name, value in options.items() if value is not None and (name, value) != ("share_beams", True)]
    return ", ".join("share_beams (--per-beam)" if name == "share_beams" else name for name in sorted(names))


def shifted_right(labels: Tensor, config: Any) -> Tensor:
    """Return the decoder's input `(rows, steps)` for labels: the start token, then the labels but the last.

    Labels that are `IGNORED` become padding. `config` is the model's.
    """
    start = labels.new_full((len(labels), 1), config.decoder_start_token_id)
    tokens = torch.cat([start, labels[:, :-1]], dim=1)
    return tokens.masked_fill(tokens == IGNORED, config.pad_token_id)


@dataclass(frozen=True)
class FamilyCard:
    """A family's part of a model card.

    Attributes:
        tag: Tag of the card, for example `sparse-attention`.
        model: Full sentences that describe the model and its use.
        initial: Source of a new model's initial weights and tokenizer.
        objective: The training objective, one sentence without the final period.
    """

    tag: str
    model: str
    initial: str
    objective: str


class Family(ABC, Generic[Recipe]):
    """A sequence-to-sequence model with its tokenizer, and how its family runs and trains it.

    Attributes:
        recipe_type: Class of the family's recipes.
    """

    recipe_type: ClassVar[type[AbstractiveRecipe]]

    def __init__(self, model: Any, tokenizer: Any, name: str) -> None:
        """Wrap a loaded model."""
        self.model, self.tokenizer, self.name = model.eval(), tokenizer, name

    @classmethod
    @abstractmethod
    def load(cls, name_or_path: str, *, device: str = "cpu", **options: Any) -> Self:
        """Load the model of a folder, or `hf:NAME` from the hub, with the family's own options.

        Raises:
            WeightsError: No such model.
            InputError: A model that the family cannot use, or unknown options.
        """

    def save(self, folder: Path) -> None:
        """Write the model, everything that its family adds, and its tokenizer to a folder, atomically."""
        with replacing_folder(folder) as new, system_errors(folder):
            self.model.save_pretrained(new)
            plain_tokenizer(self.tokenizer).save_pretrained(new)

    @property
    def positions(self) -> int | None:
        """Maximum number of input tokens; None where the model's configuration sets no limit."""
        return self._positions("encoder")

    @property
    def target_positions(self) -> int | None:
        """Maximum number of output tokens; None where the model's configuration sets no limit."""
        return self._positions("decoder")

    def _positions(self, side: str) -> int | None:
        config = self.model.config
        # LED has other names than BART.
        names = (f"max_{side}_position_embeddings", "max_position_embeddings")
        return next((int(getattr(config, name)) for name in names if hasattr(config, name)), None)

    @property
    def vocabulary(self) -> str:
        """SHA-256 of the tokenizer's vocabulary."""
        return hashlib.sha256(json.dumps(sorted(self.tokenizer.get_vocab().items())).encode()).hexdigest()

    def texts(self, documents: Sequence[Document]) -> list[str]:
        """Return the text of each document that the tokenizer encodes."""
        return [document.text for document in documents]

    @abstractmethod
    def inputs(self, documents: Sequence[Document], encoding: BatchEncoding) -> dict[str, Any]:
        """Return extra arguments of `generate` and `loss`; `encoding` encodes the documents' `texts`.

        Raises:
            InputError: A document without the sentences or the tree that the model needs.
        """

    def target(self, reference: str) -> str:
        """Return the training target of a reference, which has one sentence per line."""
        return " ".join(reference.split())

    def target_ids(
        self, targets: Sequence[str], written: BatchEncoding, documents: Sequence[Document], encoding: BatchEncoding
    ) -> Tensor:
        """Return the label ids `(documents, steps)` of `targets`, whose encoding is `written`."""
        ids: Tensor = written["input_ids"]
        return ids

    def decode(self, generated: Tensor, documents: Sequence[Document], encoding: BatchEncoding) -> list[str]:
        """Return the texts of generated ids `(documents, steps)`."""
        texts: list[str] = self.tokenizer.batch_decode(
            generated, skip_special_tokens=True, clean_up_tokenization_spaces=True
        )
        return texts

    @abstractmethod
    def details(self, inputs: dict[str, Any]) -> list[dict[str, Any]]:
        """Return the family's details about each summary, given the `inputs` that `generate` has run with."""

    @abstractmethod
    def settings(self) -> dict[str, Any]:
        """Return the family's settings that affect scores, by name."""

    @classmethod
    @abstractmethod
    def for_training(
        cls, recipe: Recipe, device: str, texts: Callable[[], Iterable[str]], report: Callable[[str], None]
    ) -> Self:
        """Return the model that a run starts from: the recipe's, or a new one.

        Args:
            recipe: Settings of the run.
            device: Device of the model.
            texts: Returns the texts of the training documents, from which a new model's tokenizer is built.
            report: Receives lines of progress.

        Raises:
            WeightsError: The recipe's model does not exist.
            InputError: A model that the recipe does not fit.
        """

    @classmethod
    @abstractmethod
    def needs_tree(cls, recipe: Recipe) -> bool:
        """Return whether a run needs documents with trees."""

    @abstractmethod
    def parameter_groups(self, recipe: Recipe) -> list[dict[str, Any]]:
        """Freeze the parameters that a run does not train; return groups of the others (see `TrainingTask`)."""

    def begin_step(self, recipe: Recipe, step: Step) -> None:
        """Prepare for the loss of a training step, which may be computed in several parts."""

    @abstractmethod
    def loss(
        self, recipe: Recipe, batch: dict[str, Tensor], inputs: dict[str, Any], done: float, chances: Tensor
    ) -> dict[str, Tensor]:
        """Return the `loss` of a batch and its parts, means over tokens in nats.

        Args:
            recipe: Settings of the run.
            batch: Arguments of the model's forward pass; `labels` are `IGNORED` where they do not count.
            inputs: Result of `inputs` for the documents.
            done: Completed share of the first epoch, from 0 to 1; 1 in validation.
            chances: `(documents,)` uniform random numbers.
        """

    def state(self) -> dict[str, Any]:
        """Return the state, besides the model, that a resumed run needs; see `TrainingTask.state`."""
        return {}

    def load_state(self, state: dict[str, Any]) -> None:
        """Restore what `state` returned."""

    @abstractmethod
    def card(self, recipe: Recipe) -> FamilyCard:
        """Return the family's part of the model card of a run."""
