"""The interface of engines."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Protocol, TypeVar

Task = TypeVar("Task")
Result = TypeVar("Result")
# Takes the number of steps done since its last call.
Step = Callable[[int], None]


def no_step(steps: int) -> None:
    """Ignore progress."""


class Engine(Protocol):
    """Runs tasks in a number of processes: `ENGINES[name](workers)`."""

    def results_of(
        self, work: Callable[[Task, Step], Result], tasks: Iterable[Task], step: Step = no_step
    ) -> Iterator[Result]:
        """Yield the result of each task as it is done, in any order.

        Args:
            work: Does one task and reports its steps; each process has its own copy, which keeps what it loads.
            tasks: Consumed lazily; there may be any number.
            step: Called in this process with the number of steps done.

        Raises:
            DiscsumError: A process was killed, for example for lack of memory.
        """
        ...
