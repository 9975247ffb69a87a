"""What every engine is, and the check of the device that it works on."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Protocol, TypeVar

from discsum.errors import InputError

Task = TypeVar("Task")
Result = TypeVar("Result")
# Takes how many steps of a task were done since it was last called.
Step = Callable[[int], None]


def no_step(steps: int) -> None:
    """Take what was done, and do nothing about it."""


class Engine(Protocol):
    """Does work in some number of processes, which it is made with: `ENGINES[name](workers)`."""

    def results_of(
        self, work: Callable[[Task, Step], Result], tasks: Iterable[Task], step: Step = no_step
    ) -> Iterator[Result]:
        """Yield the result of each task as it is done, in any order.

        Tasks are taken as they are needed, so that there may be any number of them.

        Args:
            work: Does one task, and says of each part of it that it is done; each process has one copy of it, which
                keeps what it loads.
            tasks: What to do.
            step: Takes what was done, in this process.

        Raises:
            DiscsumError: A process that was killed, as by the system for want of memory.
        """
        ...


def check_device(name: str) -> None:
    """Check that work can be done on a device.

    Raises:
        InputError: No device of torch, or one that is not here.
    """
    if name == "cpu":
        # There is always one, and torch is loaded by the processes that compute.
        return
    import torch

    try:
        torch.ones(1, device=name).item()
    except (RuntimeError, AssertionError, ImportError) as error:
        reason = str(error).splitlines()[0]
        raise InputError(
            f"--device: expected a device that torch can use here, as cpu or cuda, got {name!r} ({reason})"
        ) from error
