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

from discsum.errors import DiscsumError

Task = TypeVar("Task")
Result = TypeVar("Result")


def results_of(work: Callable[[Task], Result], tasks: Iterable[Task], workers: int) -> Iterator[Result]:
    """Yield the result of each task as it is done, in any order.

    Tasks are taken as they are needed, so that there may be any number of them.

    Args:
        work: Does one task; with several workers each has one copy of it, which keeps what it loads.
        tasks: What to do.
        workers: How many processes; with one it is done here.

    Raises:
        DiscsumError: A worker that was killed, as by the system for want of memory.
    """
    if workers == 1:
        yield from map(work, tasks)
        return
    # Not forked: a copy of a process that has run torch may hang.
    context = multiprocessing.get_context("spawn")
    waiting = iter(tasks)
    with ProcessPoolExecutor(workers, context, _begin_worker, (work,)) as pool:
        # One task in hand and one ready for each worker.
        running: set[Future[Result]] = {pool.submit(_done, task) for task in islice(waiting, 2 * workers)}
        try:
            while running:
                done, running = wait(running, return_when=FIRST_COMPLETED)
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


def _begin_worker(work: Callable[[Any], Any]) -> None:
    import torch

    _WORK.append(work)
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
