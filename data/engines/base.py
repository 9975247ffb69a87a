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
    """Runs tasks in a number of workers; `engine_of` makes one."""

    def results_of(
        self, work: Callable[[Task, Step], Result], tasks: Iterable[Task], step: Step = no_step
    ) -> Iterator[Result]:
        """Yield the result of each task when it is done, in any order; closing the iterator ends the workers.

        If a worker dies, another worker repeats its task. Errors of `work` are raised as they are.

        Args:
            work: Does one task and reports its steps. Each worker has its own copy, which keeps what it loads; the
                copies are pickled if workers are processes. A task may be done twice.
            tasks: Drawn when needed, at most two ahead for each worker; there may be any number.
            step: Called in this process with the number of steps done; the steps of a repeated task count once.

        Raises:
            DiscsumError: Several workers die while they do the same task, or before they can do any.
        """
        ...
