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
    """Runs tasks in a number of workers: `ENGINES[name](workers)`, with options as keywords where it has some."""

    def results_of(
        self, work: Callable[[Task, Step], Result], tasks: Iterable[Task], step: Step = no_step
    ) -> Iterator[Result]:
        """Yield the result of each task as it is done, in any order; closing the iterator ends the workers.

        A task whose worker dies is done again by another worker. Errors of `work` are raised as they are.

        Args:
            work: Does one task and reports its steps. Each worker has a copy of its own, which keeps what it loads;
                where workers are processes it is pickled. It may do a task twice.
            tasks: Drawn as they are needed, at most two ahead of each worker; there may be any number.
            step: Called in this process with the number of steps done; steps of a task that is done again count once.

        Raises:
            DiscsumError: Workers die while they do the same task, or before they can do any.
        """
        ...
