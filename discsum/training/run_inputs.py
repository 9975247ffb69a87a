"""What the training loop asks of recipes and of documents, whatever is trained."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray


class RunSettings(Protocol):
    """What the recipe of every run says."""

    @property
    def epochs(self) -> int:
        """Passes over as many documents as there are to learn from."""

    @property
    def steps(self) -> int | None:
        """Steps of the run, instead of epochs."""

    @property
    def validate_every(self) -> int | None:
        """Steps between validations; by default those of one pass."""

    @property
    def patience(self) -> int | None:
        """Validations without a better one after which the run ends."""

    @property
    def batch(self) -> int:
        """Documents a step, over all processes."""

    @property
    def rate(self) -> float:
        """Peak learning rate."""

    @property
    def schedule(self) -> str:
        """How the rate falls after it rose."""

    @property
    def warmup(self) -> float:
        """Share of the steps in which the rate rises."""

    @property
    def average(self) -> float:
        """Decay of the running average of the weights."""

    @property
    def clip(self) -> float:
        """Largest norm of the gradients; longer ones are shortened to it. 0 for any."""

    @property
    def bf16(self) -> bool:
        """Whether a GPU that can computes in bfloat16."""

    @property
    def seed(self) -> int:
        """Seed of everything random."""

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as a dictionary."""


class Corpus(Protocol):
    """The documents of a run.

    Attributes:
        lengths: `(documents,)` a measure of their lengths.
        weights: `(documents,)` how often each is drawn, relative to others.
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
