"""Where work is done: in this process, or in several beside each other."""

from __future__ import annotations

import multiprocessing
import os
import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from itertools import islice
from typing import Any, TypeVar

from discsum.errors import DiscsumError, InputError

Task = TypeVar("Task")
Result = TypeVar("Result")
# Takes how many steps of a task were done since it was last called.
Step = Callable[[int], None]
# Seconds between two looks at what the workers have done.
LOOK = 0.5


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


def results_of(
    work: Callable[[Task, Step], Result], tasks: Iterable[Task], workers: int, step: Step = lambda steps: None
) -> Iterator[Result]:
    """Yield the result of each task as it is done, in any order.

    Tasks are taken as they are needed, so that there may be any number of them.

    Args:
        work: Does one task, and says of each part of it that it is done; with several workers each has one copy of it,
            which keeps what it loads.
        tasks: What to do.
        workers: How many processes; with one it is done here.
        step: Takes what was done, in this process.

    Raises:
        DiscsumError: A worker that was killed, as by the system for want of memory.
    """
    if workers == 1:
        for task in tasks:
            yield work(task, step)
        return
    # Not forked: a copy of a process that has run torch may hang.
    context = multiprocessing.get_context("spawn")
    steps, told = context.Value("q", 0), 0
    waiting = iter(tasks)
    with ProcessPoolExecutor(workers, context, _begin_worker, (work, steps)) as pool:
        # One task in hand and one ready for each worker.
        running: set[Future[Result]] = {pool.submit(_done, task) for task in islice(waiting, 2 * workers)}
        try:
            while running:
                done, running = wait(running, LOOK, FIRST_COMPLETED)
                # Read without its lock, which a worker that was killed would never give back.
                found = steps.get_obj().value
                if found > told:
                    step(found - told)
                    told = found
                for future in done:
                    yield future.result()
                running |= {pool.submit(_done, task) for task in islice(waiting, len(done))}
        except BrokenProcessPool as error:
            raise DiscsumError(
                f"expected {workers} workers to live, one was killed; start again to go on, with fewer of them "
                "if memory was short"
            ) from error
        finally:
            for future in running:
                future.cancel()


# What this worker does.
_WORK: list[Callable[[Any], Any]] = []


def _begin_worker(work: Callable[[Any, Step], Any], steps: Any) -> None:
    import torch

    def step(count: int) -> None:
        with steps:
            steps.value += count

    _WORK.append(lambda task: work(task, step))
    torch.set_num_threads(1)
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _done(task: Any) -> Any:
    return _WORK[0](task)


def _end_with_parent() -> None:
    """End this process when the one that started it is gone, however that ended."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)
