"""Give tasks to workers, and give the tasks of a worker that dies to others."""

from __future__ import annotations

from collections import deque
from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, Generic, Protocol, TypeVar

from discsum.data.engines._messages import Done, Failed, Lost, Message, Ready, Steps
from discsum.data.engines.base import Step
from discsum.errors import DiscsumError, warn_caller

# Maximum number of tasks of a worker: its current task, and the next one, so that it need not wait for it.
AHEAD = 2
# Number of workers that die over the same task, or in a row before they are ready, until the run fails.
TRIES = 3
# Characters of a task that an error shows.
SHOWN = 80

Worker = TypeVar("Worker", bound=Hashable)


class InWorker(Exception):  # noqa: N818 (no error of its own)
    """The cause of an error in a worker, with the worker's traceback."""

    def __str__(self) -> str:
        """Return the traceback, under a line of its own."""
        return f"\n{self.args[0]}"


class Crew(Protocol[Worker]):
    """The workers of an engine; each does its tasks in the order in which it gets them."""

    def hire(self) -> Worker:
        """Start a worker; it sends `Ready` before it gets a task."""

    def give(self, worker: Worker, task: Any) -> None:
        """Send a task to a worker; if the worker has died, `messages` reports it as `Lost` later."""

    def messages(self) -> Sequence[tuple[Worker, Message]]:
        """Wait for messages of workers and return them, in order for each worker; none after a timeout."""

    def dismiss(self) -> None:
        """End all workers, and wait until they have ended."""


@dataclass
class _Job:
    """A task, the number of workers that died over it, and the number of its steps reported so far."""

    task: Any
    deaths: int = 0
    reported: int = 0


class Dispatcher(Generic[Worker]):
    """Distributes tasks to the workers of a crew."""

    def __init__(self, crew: Crew[Worker], workers: int, tasks: Iterable[Any], step: Step) -> None:
        """Set crew, number of workers and tasks; `results` starts the workers, but not more than there are tasks."""
        self._crew, self._workers, self._tasks, self._step = crew, workers, iter(tasks), step
        # Tasks that no worker has: first those of lost workers, then those drawn for workers that are not ready.
        self._waiting: deque[_Job] = deque()
        # The jobs of each ready worker, and for each starting worker the number of failed starts before it.
        self._held: dict[Worker, deque[_Job]] = {}
        self._starting: dict[Worker, int] = {}

    def results(self) -> Iterator[Any]:
        """Yield the results; see `Engine.results_of`."""
        try:
            self._hire()
            while self._waiting or any(self._held.values()):
                for worker, message in self._crew.messages():
                    match message:
                        case Ready():
                            del self._starting[worker]
                            self._held[worker] = deque()
                            self._fill(*self._held)
                        case Steps(count):
                            self._report(self._held[worker][0], count)
                        case Done(result, count, warned):
                            for text in warned:
                                warn_caller(text)
                            self._report(self._held[worker].popleft(), count)
                            self._fill(worker)
                            yield result
                        case Failed(error, traceback):
                            raise error from InWorker(traceback)
                        case Lost(reason):
                            self._replace(worker, reason)
                            self._fill(*self._held)
        finally:
            self._crew.dismiss()

    def _hire(self) -> None:
        """Start a worker for each of the first tasks; workers start up while tasks for the next ones are drawn."""
        for hired in range(self._workers):
            self._draw(hired + 1)
            if len(self._waiting) == hired:
                return
            self._starting[self._crew.hire()] = 0

    def _draw(self, count: int) -> None:
        """Draw tasks until `count` are waiting, or there are no more."""
        self._waiting.extend(_Job(task) for task in islice(self._tasks, max(0, count - len(self._waiting))))

    def _fill(self, *workers: Worker) -> None:
        """Give tasks to the workers: first one to each worker that has none, then a second one."""
        for size in range(AHEAD):
            for worker in workers:
                if len(self._held[worker]) != size:
                    continue
                # A worker gets a second task only if one is left for each worker that has none.
                left = len(self._starting) + sum(not jobs for jobs in self._held.values()) if size else 0
                self._draw(left + 1)
                if len(self._waiting) > left:
                    job = self._waiting.popleft()
                    self._held[worker].append(job)
                    self._crew.give(worker, job.task)

    def _report(self, job: _Job, count: int) -> None:
        """Report the steps of a task, except those already reported by a worker that died."""
        if count > job.reported:
            self._step(count - job.reported)
            job.reported = count

    def _replace(self, worker: Worker, reason: str) -> None:
        """Take back the tasks of a lost worker and start another worker.

        Raises:
            DiscsumError: `TRIES` workers have died over the same task, or in a row before they were ready.
        """
        failed_starts = 0
        if worker in self._starting:
            failed_starts = self._starting.pop(worker) + 1
            if failed_starts == TRIES:
                raise DiscsumError(
                    f"expected a worker to start, {TRIES} in a row ended before they were ready; the last: {reason}"
                )
        jobs = self._held.pop(worker, deque())
        if jobs:
            # Only the first task counts as the cause: the worker had not begun the others.
            jobs[0].deaths += 1
            if jobs[0].deaths == TRIES:
                raise DiscsumError(
                    f"expected {_shown(jobs[0].task)} to be done, {TRIES} workers died on it; the last: {reason}; "
                    "start again to resume, with fewer workers if memory ran out"
                )
            again = f", {jobs[0].deaths} so far" if jobs[0].deaths > 1 else ""
            warn_caller(f"a worker died on {_shown(jobs[0].task)}{again}: {reason}; another worker retries it")
        self._waiting.extendleft(reversed(jobs))
        self._starting[self._crew.hire()] = failed_starts


def _shown(task: Any) -> str:
    """Return a task as text of at most `SHOWN` characters, on one line."""
    text = " ".join(str(task).split())
    return text if len(text) <= SHOWN else f"{text[: SHOWN - 1]}…"
