"""Options of a run that makes the shards of a folder; only the device can change the content of the shards."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from discsum.data.engines import engine_of
from discsum.errors import InputError

if TYPE_CHECKING:
    from discsum.data.engines.base import Engine


@dataclass(frozen=True, kw_only=True)
class RunOptions:
    """The options of a run.

    Attributes:
        workers: Number of parallel workers, if `engine` is a name.
        engine: Name in `ENGINES`, for example `ray:auto`, or an engine from `engine_of`, which has its own number of
            workers and, with Ray, of GPUs.
        device: Device of the models; the last digits of vectors and probabilities depend on it.
        wait: Whether to wait for another run on the folder instead of failing.
        verify: Whether to compare shards of earlier runs with their checksums, not only with their sizes.
        report: Takes the number of documents done, including those of earlier runs.
        skip: Takes the number of documents done by earlier runs.
        warn: Takes a line for each damaged shard, which is written again.

    Raises:
        InputError: No worker, or a number of workers with an engine that has its own.
    """

    workers: int = 1
    engine: str | Engine = "local"
    device: str = "cpu"
    wait: bool = False
    verify: bool = False
    report: Callable[[int], None] = lambda done: None
    skip: Callable[[int], None] = lambda found: None
    warn: Callable[[str], None] = lambda line: None

    def __post_init__(self) -> None:
        """Check the options."""
        if self.workers < 1:
            raise InputError(f"workers: expected at least 1, got {self.workers}")
        if not isinstance(self.engine, str) and self.workers != 1:
            raise InputError(
                f"workers: expected none with an engine object, which has its own workers, got {self.workers}"
            )

    def chosen_engine(self) -> Engine:
        """Return the engine.

        Raises:
            InputError: No such engine.
        """
        if isinstance(self.engine, str):
            return engine_of(self.engine, self.workers, device=self.device)
        return self.engine
