"""The interface of engines, and the check of devices."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Protocol, TypeVar

from discsum.errors import InputError

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


def check_device(name: str) -> None:
    """Check that work can be done on a device.

    Raises:
        InputError: Not a device of torch, or not available.
    """
    if name == "cpu":
        # Always available; only the workers import torch.
        return
    import torch

    try:
        torch.ones(1, device=name).item()
    except (RuntimeError, AssertionError, ImportError) as error:
        reason = str(error).splitlines()[0]
        raise InputError(
            f"--device: expected a device that torch can use here, as cpu or cuda, got {name!r} ({reason})"
        ) from error
