"""The interface between the training loop and a task."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Generic, Protocol, TypeVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from discsum.errors import InputError
from discsum.training.processes import accelerator
from discsum.training.recipe import TrainingRecipe

# Takes the messages of a run.
Report = Callable[[str], None]


class Documents(Protocol):
    """The documents of a split, which a task compares with those of the other split and of earlier runs."""

    @property
    def digest(self) -> str:
        """Identity of the documents."""

    def texts(self) -> list[str]:
        """Return a digest of each document's text."""


class TrainingExamples(Documents, Protocol):
    """Training examples, with what the loop needs to sample them.

    Attributes:
        lengths: `(examples,)` length of each; a batch has examples of similar length.
        weights: `(examples,)` sampling weights.
        blocks: `(examples, 2)` source and block of each, from 0; see `Batches`.
    """

    lengths: NDArray[np.int64]
    weights: NDArray[np.float64]
    blocks: NDArray[np.int64]

    def __len__(self) -> int:
        """Return the number of examples."""

    def ids(self, examples: Sequence[int]) -> list[str]:
        """Return the names of the examples at these indices, for messages."""


@dataclass(frozen=True)
class Step:
    """A step of a run.

    Attributes:
        number: Number of the step, from 0.
        passes: Passes over the examples before the step, such as 1.5.
        done: Share of the run before the step.
    """

    number: int
    passes: float
    done: float


@dataclass(frozen=True)
class LogEntry:
    """The log entry of a validation.

    Attributes:
        steps: Number of training steps before the validation.
        loss: Mean training loss since the previous validation.
        validation: Validation figures by name.
        parts: Means of the other values that the task's `loss` returned since the previous validation, by name.
    """

    steps: int
    loss: float
    validation: dict[str, float]
    parts: dict[str, float] = field(default_factory=dict)


Recipe = TypeVar("Recipe", bound=TrainingRecipe)
Examples = TypeVar("Examples", bound=TrainingExamples)


class TrainingTask(ABC, Generic[Recipe, Examples]):
    """A network with its examples, loss and validation; `discsum.training.loop.TrainingLoop` trains it.

    Attributes:
        accelerator: The processes of the run and the device of this one.
        network: The trained module, whose forward pass gives what `loss` needs; subclasses set it.
        unused_parameters: Whether some parameters have no gradient in some steps, which distributed training must know.
    """

    network: nn.Module
    unused_parameters = False

    def __init__(self, recipe: Recipe, train: Examples, validation: Documents) -> None:
        """Check the examples and set up the accelerator.

        Raises:
            InputError: A validation document among the training documents, or a batch with fewer documents than
                processes times accumulated parts.
            MissingExtraError: The library accelerate is not installed.
        """
        self.recipe, self.train = recipe, train
        self.digest = f"{train.digest} {validation.digest}"
        texts = train.texts()
        shared = set(texts) & set(validation.texts())
        if shared:
            first = next(index for index, text in enumerate(texts) if text in shared)
            raise InputError(
                f"validation: expected no validation document among the training documents, got {len(shared)}, such as "
                f"the training document {train.ids([first])[0]!r}"
            )
        self.accelerator = accelerator(recipe.bf16, unused_parameters=self.unused_parameters)
        shares = recipe.accumulate * self.accelerator.num_processes
        if recipe.batch_size < shares:
            raise InputError(
                f"batch_size: expected at least {shares}, a document for each of {self.accelerator.num_processes} "
                f"processes and {recipe.accumulate} parts of a step, got {recipe.batch_size}"
            )

    @abstractmethod
    def parameter_groups(self) -> list[dict[str, Any]]:
        """Return the parameter groups of the optimiser.

        Each has `params`, the peak rate `lr`, and `weight_decay` if it differs from the recipe's.
        """

    def optimizer(self, groups: list[dict[str, Any]]) -> torch.optim.Optimizer:
        """Return the optimiser of these groups: AdamW (Loshchilov and Hutter 2019)."""
        return torch.optim.AdamW(groups, betas=self.recipe.betas, weight_decay=self.recipe.weight_decay)

    def start(self, report: Report) -> None:
        """Initialise the network of a new run; not called in a resumed run."""

    def prepare(self, report: Report) -> None:
        """Prepare for training, after `start` or `load_state`; not called in a finished run."""

    @abstractmethod
    def batches(self, parts: Sequence[Sequence[int]], step: Step) -> Sequence[Any]:
        """Return the batch of each part of a step; `parts` has the indices of this process's documents by part."""

    @abstractmethod
    def loss(self, network: nn.Module, batch: Any) -> dict[str, Tensor]:
        """Return the scalar `loss`, which is minimised, and other values to log, by name.

        Gradients are summed over the parts of a step and averaged over processes. So the loss of a batch must be its
        share of the mean over the whole step, times the number of processes.

        Args:
            network: The task's network; calling it as a module exchanges gradients with other processes.
            batch: One of `batches`.
        """

    @abstractmethod
    def validate(self) -> dict[str, float]:
        """Return the figures of a validation; the network has the averaged weights and no dropout."""

    @abstractmethod
    def selection_score(self, entry: LogEntry) -> float:
        """Return the number that selects the best weights; higher is better."""

    def shown(self, validation: dict[str, float]) -> str:
        """Return a validation's figures in one line."""
        return ", ".join(f"{name} {value:.4g}" for name, value in validation.items())

    @abstractmethod
    def save(self, folder: Path) -> None:
        """Write the model to a folder; the network has the averaged weights."""

    @abstractmethod
    def card(self, log: Sequence[LogEntry], best: LogEntry) -> str:
        """Return the model card."""

    def state(self) -> dict[str, Any]:
        """Return further state that a resumed run needs, such as a moving baseline: tensors and JSON values."""
        return {}

    def load_state(self, state: dict[str, Any]) -> None:
        """Restore what `state` returned at the last validation of a resumed run."""
