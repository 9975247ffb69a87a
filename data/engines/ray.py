"""Engine `ray`: run tasks in Ray actors, on this machine or on the nodes of a cluster."""

from __future__ import annotations

import os
import pickle  # nosec B403 # between a driver and its own workers
import threading
import time
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
from discsum.errors import DiscsumError, number_of, warn_caller
from discsum.extras import needs

# Seconds between checks of the workers' progress.
LOOK = 0.5
# Seconds after which a warning reports workers that no node has room for.
PATIENCE = 30.0
# Maximum characters of the reason for which Ray lost an actor.
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
            DiscsumError: Ray does not start or does not run at the address; also the errors of `Engine.results_of`.
        """
        with needs("ray"):
            import ray  # noqa: F401
        with connected(self.workers, self.options):
            yield from Dispatcher(_Actors(work, self.workers, self.options), self.workers, tasks, step).results()


class _Actor:
    """Does the work in a Ray process, one task at a time; another thread reports its progress."""

    def __init__(self, work: bytes, threads: int) -> None:
        limit_threads(threads)
        threading.Thread(target=_end_with_node, args=(os.getppid(),), daemon=True).start()
        self._content = work
        # Number of the current task, from 1, and the number of its steps done.
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
        """Return the number, from 1, of the last task that was begun, and the number of its steps done."""
        return self._steps


def _end_with_node(raylet: int) -> None:
    """End this process within a second after its node has died, because a replacement writes the same files."""
    while os.getppid() == raylet:
        time.sleep(1)
    os._exit(1)


@dataclass(eq=False)
class _Worker:
    """An actor as the driver sees it.

    Attributes:
        handle: The actor.
        answers: Object references of its answers, in order: to its start, then to each task.
        hired: Time at which it was requested, in seconds.
        ready: Whether it has started.
        done: Number of tasks that it has done.
        steps: Object reference of its progress; None if it was not requested.
    """

    handle: Any
    answers: deque[Any]
    hired: float = field(default_factory=time.monotonic)
    ready: bool = False
    done: int = 0
    steps: Any = None


class _Actors:
    """A crew of actors. Ray does not restart them: the dispatcher knows which tasks to repeat."""

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
        """Request an actor, which Ray starts as soon as a node has room."""
        handle = self._kind.remote(self._work, self._options.cpus_per_worker)
        worker = _Worker(handle, deque([handle.start.options(concurrency_group="work").remote()]))
        self._workers.append(worker)
        return worker

    def give(self, worker: _Worker, task: Any) -> None:
        """Send a task to an actor."""
        worker.answers.append(worker.handle.do.options(concurrency_group="work").remote(task))

    def messages(self) -> Sequence[tuple[_Worker, Message]]:
        """Wait at most `LOOK` seconds for answers, and return those that have arrived, and then progress."""
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
        """Return a worker's next answer, which has arrived."""
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
            # The actor may only be unreachable. What it still writes does no harm: its replacement writes the same.
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
        """Return the known steps of the current tasks, and request the next ones."""
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
                # The answer to its task reports the same error.
                continue
            if number == worker.done + 1:
                found.append((worker, Steps(count)))
        for worker in busy:
            if worker.steps is None:
                worker.steps = worker.handle.steps.options(concurrency_group="look").remote()
        return found

    def _warn_of_waiting(self) -> None:
        """Warn once if workers have not started after `PATIENCE` seconds: Ray waits for room silently."""
        before = time.monotonic() - PATIENCE
        waiting = sum(not worker.ready and worker.hired < before for worker in self._workers)
        if not waiting or self._told:
            return
        self._told = True
        cpus = number_of(self._options.cpus_per_worker, "CPU")
        gpus = f" and {number_of(self._options.gpus, 'GPU')}" if self._options.gpus else ""
        warn_caller(
            f"engine ray: expected room for {number_of(self._count, 'worker')} with {cpus}{gpus} each, "
            f"got none for {waiting} after {PATIENCE:.0f} seconds; add nodes, or request less"
        )


def _last_line(error: Exception) -> str:
    return str(error).strip().rpartition("\n")[2].strip()


def _reason(error: Exception) -> str:
    """Return on one line why Ray lost an actor: the text after the actor's names, without Ray's advice."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip() and not line.startswith("\t")]
    text = lines[1] if len(lines) > 1 else lines[0] if lines else type(error).__name__
    return text.partition(" Some common causes include")[0][:REASON]
