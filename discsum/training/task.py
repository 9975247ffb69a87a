"""What a training run learns: the contract between the training loop and a task."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Generic, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray
from torch import Tensor, nn

from discsum.errors import InputError
from discsum.training.processes import accelerator
from discsum.training.recipe import TrainingRecipe
from discsum.training.schedule import plateau_factor


class TrainingExamples(Protocol):
    """What a run learns from, as much as the loop needs to know of it.

    Attributes:
        lengths: `(examples,)` by which examples are sorted, so that those of a batch are alike.
        weights: `(examples,)` how often each is drawn, relative to others.
    """

    lengths: NDArray[np.int64]
    weights: NDArray[np.float64]

    @property
    def digest(self) -> str:
        """A name for all that is to be learned."""

    def __len__(self) -> int:
        """Return how many there are."""

    def texts(self) -> list[str]:
        """Return a digest of each one's text."""

    def ids(self, examples: Sequence[int]) -> list[str]:
        """Return the names of some of them, for messages."""


@dataclass(frozen=True)
class Step:
    """A step of a run.

    Attributes:
        number: From 0.
        passes: Passes over the examples until then, as 1.5.
        done: Share of the run until then.
    """

    number: int
    passes: float
    done: float


@dataclass(frozen=True)
class LogEntry:
    """What came out of the steps up to a validation.

    Attributes:
        steps: Steps of the run until then.
        loss: Mean training loss since the validation before.
        validation: The validation's figures, by name.
        parts: Means of what else the task's `loss` returns, by name.
    """

    steps: int
    loss: float
    validation: dict[str, float]
    parts: dict[str, float] = field(default_factory=dict)


Recipe = TypeVar("Recipe", bound=TrainingRecipe)
Examples = TypeVar("Examples", bound=TrainingExamples)


class TrainingTask(ABC, Generic[Recipe, Examples]):
    """What is learned; `discsum.training.loop.TrainingLoop` trains it.

    Attributes:
        recipe: All settings.
        train: What is learned from.
        accelerator: The processes of the run and this one's device.
        network: What is learned, a module whose forward pass gives what `loss` needs; subclasses set it.
        unused_parameters: Whether some parameters get no gradient in some steps, which several processes must know.
    """

    network: nn.Module
    unused_parameters = False

    def __init__(self, recipe: Recipe, train: Examples, validation: TrainingExamples | None = None) -> None:
        """Keep what is learned from, and check what needs no network.

        Raises:
            InputError: Examples to choose by among those to learn from, or fewer documents a step than processes.
            MissingExtraError: The library accelerate is not installed.
        """
        self.recipe, self.train = recipe, train
        self.digest = train.digest if validation is None else f"{train.digest} {validation.digest}"
        shared = set(train.texts()) & set(validation.texts()) if validation is not None else ()
        if shared:
            raise InputError(f"expected no validation document among the training documents, got {len(shared)}")
        self.accelerator = accelerator(recipe.bf16, unused_parameters=self.unused_parameters)
        shares = recipe.accumulate * self.accelerator.num_processes
        if recipe.batch < shares:
            raise InputError(
                f"batch: expected at least {shares}, a document for each of {self.accelerator.num_processes} processes "
                f"and {recipe.accumulate} parts of a step, got {recipe.batch}"
            )

    @abstractmethod
    def parameter_groups(self) -> list[dict[str, Any]]:
        """Return the groups that the optimiser takes: `params`, peak rate `lr`, and `weight_decay` if not the recipe's.

        The optimiser is AdamW (Loshchilov and Hutter 2019).
        """

    def start(self, report: Any) -> None:
        """Give the network what a new run begins with; not called in a run that goes on."""

    def prepare(self, report: Any) -> None:
        """Get ready for training, after `start` or `load_state`; not called in a run that is finished."""

    @abstractmethod
    def batches(self, parts: Sequence[Sequence[int]], step: Step) -> Sequence[Any]:
        """Return what `loss` takes of each part of a step.

        Args:
            parts: The documents that this process learns from, part by part, their numbers.
            step: The step.
        """

    @abstractmethod
    def loss(self, network: nn.Module, batch: Any) -> dict[str, Tensor]:
        """Return the scalar `loss` that is minimised, and others by their names to be logged.

        Gradients of a step's parts are added up, those of processes averaged. To learn from a whole step at once, a
        batch's loss is therefore its part of the mean over the whole step, times the number of processes.

        Args:
            network: The task's, to be called as a module: gradients meet those of other processes there.
            batch: One of `batches`.
        """

    @abstractmethod
    def validate(self) -> dict[str, float]:
        """Return the validation's figures; the network has the averaged weights and no dropout."""

    @abstractmethod
    def selection_score(self, entry: LogEntry) -> float:
        """Return the number by which the best weights are chosen; more is better."""

    def shown(self, validation: dict[str, float]) -> str:
        """Return a validation's figures in one line."""
        return str(validation)

    def rate_factor(self, log: Sequence[LogEntry]) -> float:
        """Return what learning rates are multiplied by after these validations; the same after a run was resumed."""
        return plateau_factor([self.selection_score(entry) for entry in log], self.recipe.plateau)

    @abstractmethod
    def save(self, folder: Path) -> None:
        """Write the model to a folder; the network has the averaged weights."""

    @abstractmethod
    def card(self, log: Sequence[LogEntry], best: LogEntry) -> str:
        """Return the model card."""

    def state(self) -> dict[str, Any]:
        """Return what else a run goes on from, as a moving baseline: tensors, and values that JSON can hold."""
        return {}

    def load_state(self, state: dict[str, Any]) -> None:
        """Take what `state` returned at the validation that a run goes on from."""
