"""local: in this process, or in several parallel processes of this machine."""

from __future__ import annotations

import multiprocessing
import os
import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from itertools import islice
from typing import Any

from discsum.data.engines import ENGINES
from discsum.data.engines.base import Result, Step, Task, no_step
from discsum.errors import DiscsumError

# Seconds between progress reports of the workers.
LOOK = 0.5


@ENGINES.register("local")
@dataclass(frozen=True)
class LocalEngine:
    """Runs tasks in this process with one worker, otherwise in `workers` processes."""

    workers: int = 1

    def results_of(
        self, work: Callable[[Task, Step], Result], tasks: Iterable[Task], step: Step = no_step
    ) -> Iterator[Result]:
        """Yield the result of each task as it is done; see `Engine.results_of`."""
        workers = self.workers
        if workers == 1:
            for task in tasks:
                yield work(task, step)
            return
        # Not forked: a copy of a process that has run torch may hang.
        context = multiprocessing.get_context("spawn")
        steps, reported = context.Value("q", 0), 0
        waiting = iter(tasks)
        with ProcessPoolExecutor(workers, context, _begin_worker, (work, steps)) as pool:
            # For each worker, one task running and one queued.
            running: set[Future[Result]] = {pool.submit(_done, task) for task in islice(waiting, 2 * workers)}
            try:
                while running:
                    done, running = wait(running, LOOK, FIRST_COMPLETED)
                    # Read without its lock, which a killed worker would never release.
                    found = steps.get_obj().value
                    if found > reported:
                        step(found - reported)
                        reported = found
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


# The work of this process.
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
    """End this process when the one that started it has ended, even if killed."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)
