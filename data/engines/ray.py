"""ray: in actors of Ray, on this machine or on the nodes of a cluster."""

from __future__ import annotations

import os
import pickle  # nosec B403 # between a driver and its own workers
import threading
import time
import warnings
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from discsum.data.engines import ENGINES
from discsum.data.engines._dispatch import Dispatcher
from discsum.data.engines._messages import Done, Failed, Lost, Message, Ready, Steps
from discsum.data.engines._ray_connection import RayOptions, connected
from discsum.data.engines._worker import attempt, failed, limit_threads
from discsum.data.engines.base import Result, Step, Task, no_step
from discsum.errors import DiscsumError, InputWarning
from discsum.extras import needs

# Seconds between looks at the workers' progress.
LOOK = 0.5
# Seconds after which workers that nobody has a place for are told of.
PATIENCE = 30.0
# Characters of the reason for which Ray lost an actor.
REASON = 200


@ENGINES.register("ray", options=RayOptions)
@dataclass(frozen=True)
class RayEngine:
    """Runs tasks in `workers` actors of Ray."""

    workers: int = 1
    options: RayOptions = field(default_factory=RayOptions)

    def results_of(
        self, work: Callable[[Task, Step], Result], tasks: Iterable[Task], step: Step = no_step
    ) -> Iterator[Result]:
        """Yield the result of each task as it is done; see `Engine.results_of`.

        Raises:
            MissingExtraError: The extra `ray` is not installed.
            DiscsumError: Ray does not start, or there is none at the address; and as of `Engine.results_of`.
        """
        with needs("ray"):
            import ray  # noqa: F401
        with connected(self.workers, self.options):
            yield from Dispatcher(_Actors(work, self.workers, self.options), self.workers, tasks, step).results()


class _Actor:
    """The work in a process of Ray, one task at a time; another thread says how far it is."""

    def __init__(self, work: bytes, threads: int) -> None:
        limit_threads(threads)
        threading.Thread(target=_end_with_node, args=(os.getppid(),), daemon=True).start()
        self._content = work
        # Number of the task, from 1, and its steps that are done.
        self._steps = (0, 0)

    def start(self) -> Ready | Failed:
        """Load the work."""
        try:
            self._work = pickle.loads(self._content)  # nosec B301 # from the driver
        except Exception as error:
            return failed(error)
        return Ready()

    def do(self, task: Any) -> Done | Failed:
        """Do a task."""
        number = self._steps[0] + 1
        self._steps = (number, 0)

        def tell(steps: Steps) -> None:
            self._steps = (number, steps.count)

        return attempt(self._work, task, tell)

    def steps(self) -> tuple[int, int]:
        """Return the number of the last task that was begun, from 1, and the steps of it that are done."""
        return self._steps


def _end_with_node(raylet: int) -> None:
    """End this process within a second when its node has died: a successor makes the same files."""
    while os.getppid() == raylet:
        time.sleep(1)
    os._exit(1)


@dataclass(eq=False)
class _Worker:
    """An actor as the driver sees it.

    Attributes:
        handle: The actor.
        answers: What becomes its answers, in order: to its start, then to each task.
        hired: When it was asked for, in seconds.
        ready: Whether it has started.
        done: Number of tasks that it has done.
        steps: What becomes its progress; none if nobody asked.
    """

    handle: Any
    answers: deque[Any]
    hired: float = field(default_factory=time.monotonic)
    ready: bool = False
    done: int = 0
    steps: Any = None


class _Actors:
    """A crew of actors. Ray starts none anew by itself: who gives the tasks knows which to do again."""

    def __init__(self, work: Callable[[Any, Step], Any], count: int, options: RayOptions) -> None:
        """Describe the actors; none starts yet."""
        import ray
        from ray import cloudpickle

        self._work, self._count, self._options = cloudpickle.dumps(work), count, options
        self._kind = ray.remote(concurrency_groups={"work": 1, "look": 1})(_Actor).options(
            num_cpus=options.cpus_per_worker,
            num_gpus=options.gpus,
            max_restarts=0,
            max_task_retries=0,
            scheduling_strategy="SPREAD",
        )
        self._workers: list[_Worker] = []
        self._looked = time.monotonic()
        self._told = False

    def hire(self) -> _Worker:
        """Ask for an actor, which Ray starts as soon as a node has room."""
        handle = self._kind.remote(self._work, self._options.cpus_per_worker)
        worker = _Worker(handle, deque([handle.start.options(concurrency_group="work").remote()]))
        self._workers.append(worker)
        return worker

    def give(self, worker: _Worker, task: Any) -> None:
        """Send a task to an actor."""
        worker.answers.append(worker.handle.do.options(concurrency_group="work").remote(task))

    def messages(self) -> Sequence[tuple[_Worker, Message]]:
        """Wait for answers, at most `LOOK` seconds, and return those that are there, then progress."""
        import ray

        first = {worker.answers[0]: worker for worker in self._workers if worker.answers}
        ready, others = ray.wait([*first], timeout=LOOK)
        if others:
            ready += ray.wait(others, num_returns=len(others), timeout=0)[0]
        found = [(first[answer], self._message(first[answer])) for answer in ready]
        if time.monotonic() - self._looked >= LOOK:
            self._looked = time.monotonic()
            self._warn_of_waiting()
            found += self._progress()
        return found

    def dismiss(self) -> None:
        """Kill all actors; Ray ends their processes at once."""
        for worker in self._workers:
            self._kill(worker)
        self._workers.clear()

    def _message(self, worker: _Worker) -> Message:
        """Return a worker's next answer, which is there."""
        import ray
        from ray.exceptions import RayError, RayTaskError

        try:
            answer: Message = ray.get(worker.answers.popleft())
        except RayTaskError as error:
            return Failed(error.cause if isinstance(error.cause, Exception) else error, str(error))
        except RayError as error:
            # Its node or process died, Ray's memory monitor killed it, or its answer is lost.
            if getattr(error, "actor_init_failed", False):
                return Failed(DiscsumError(f"engine ray: expected discsum on every node, got {_last_line(error)}"), "")
            self._workers.remove(worker)
            # It may only be out of reach; what it still writes, its successor writes as well.
            self._kill(worker)
            return Lost(_reason(error))
        if worker.ready:
            worker.done += 1
        worker.ready = True
        return answer

    def _kill(self, worker: _Worker) -> None:
        import ray

        ray.kill(worker.handle)

    def _progress(self) -> list[tuple[_Worker, Message]]:
        """Return the steps of the tasks that are being done, as far as they are known, and ask for the next."""
        import ray
        from ray.exceptions import RayError

        busy = [worker for worker in self._workers if worker.ready and worker.answers]
        asked = {worker.steps: worker for worker in busy if worker.steps is not None}
        found: list[tuple[_Worker, Message]] = []
        for answer in ray.wait([*asked], num_returns=len(asked), timeout=0)[0] if asked else ():
            worker = asked[answer]
            worker.steps = None
            try:
                number, count = ray.get(answer)
            except RayError:
                # Its task says so as well.
                continue
            if number == worker.done + 1:
                found.append((worker, Steps(count)))
        for worker in busy:
            if worker.steps is None:
                worker.steps = worker.handle.steps.options(concurrency_group="look").remote()
        return found

    def _warn_of_waiting(self) -> None:
        """Warn once if workers are not there after a while: Ray waits for room in silence."""
        before = time.monotonic() - PATIENCE
        waiting = sum(not worker.ready and worker.hired < before for worker in self._workers)
        if not waiting or self._told:
            return
        self._told = True
        gpus = f" and {self._options.gpus:g} GPUs" if self._options.gpus else ""
        warnings.warn(
            f"engine ray: expected room for {self._count} workers of {self._options.cpus_per_worker} CPUs{gpus}, "
            f"{waiting} found none within {PATIENCE:.0f} seconds and wait; add nodes, or ask for less",
            InputWarning,
            stacklevel=2,
        )


def _last_line(error: Exception) -> str:
    return str(error).strip().rpartition("\n")[2].strip()


def _reason(error: Exception) -> str:
    """Return why Ray lost an actor, in one line: what follows the actor's names, without Ray's advice."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip() and not line.startswith("\t")]
    text = lines[1] if len(lines) > 1 else lines[0] if lines else type(error).__name__
    return text.partition(" Some common causes include")[0][:REASON]
