"""Engine `local`: run tasks in this process, or in several parallel processes on this machine."""

from __future__ import annotations

import multiprocessing
import os
import pickle  # nosec B403 # between a process and its own workers
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from multiprocessing.connection import Connection, wait
from multiprocessing.context import SpawnProcess
from multiprocessing.reduction import ForkingPickler
from queue import SimpleQueue
from typing import Any

from discsum.data.engines import ENGINES
from discsum.data.engines._dispatch import Dispatcher
from discsum.data.engines._messages import Lost, Message, Ready
from discsum.data.engines._worker import attempt, failed, limit_threads
from discsum.data.engines.base import Result, Step, Task, no_step

# Seconds that workers may take to end before they are killed.
PATIENCE = 5.0


@ENGINES.register("local")
@dataclass(frozen=True)
class LocalEngine:
    """Runs tasks in this process with one worker, otherwise in `workers` processes."""

    workers: int = 1

    def results_of(
        self, work: Callable[[Task, Step], Result], tasks: Iterable[Task], step: Step = no_step
    ) -> Iterator[Result]:
        """Yield the result of each task as it is done; see `Engine.results_of`."""
        if self.workers == 1:
            return (work(task, step) for task in tasks)
        crew = _Processes(bytes(ForkingPickler.dumps(work)))
        return Dispatcher(crew, self.workers, tasks, step).results()


@dataclass(frozen=True, eq=False)
class _Worker:
    """A process, and the connection to it."""

    process: SpawnProcess
    connection: Connection[Any, Any]


@dataclass(frozen=True)
class _Processes:
    """A crew of processes; `work` is pickled."""

    work: bytes
    workers: list[_Worker] = field(default_factory=list)

    def hire(self) -> _Worker:
        """Start a process."""
        # Not forked: a copy of a process that has run torch may hang.
        context = multiprocessing.get_context("spawn")
        here, there = context.Pipe()
        process = context.Process(target=_serve, args=(there, self.work), daemon=True)
        process.start()
        # Only the worker keeps its end open, so that its death closes the connection.
        there.close()
        worker = _Worker(process, here)
        self.workers.append(worker)
        return worker

    def give(self, worker: _Worker, task: Any) -> None:
        """Send a task to a process."""
        try:
            worker.connection.send(task)
        except (BrokenPipeError, ConnectionResetError):
            # The next message of this worker is `Lost`, with the reason.
            return

    def messages(self) -> Sequence[tuple[_Worker, Message]]:
        """Wait for messages and return one of each process that has any."""
        ready = wait([worker.connection for worker in self.workers])
        return [(worker, self._message(worker)) for worker in [*self.workers] if worker.connection in ready]

    def dismiss(self) -> None:
        """Terminate all processes; kill those that do not end within `PATIENCE` seconds."""
        for worker in self.workers:
            worker.process.terminate()
        deadline = time.monotonic() + PATIENCE
        for worker in self.workers:
            worker.process.join(max(0.0, deadline - time.monotonic()))
            self._end(worker)
        self.workers.clear()

    def _message(self, worker: _Worker) -> Message:
        try:
            message: Message = worker.connection.recv()
            return message
        except (EOFError, OSError):
            self.workers.remove(worker)
            worker.process.join(PATIENCE)
            self._end(worker)
            code = worker.process.exitcode or 0
            return Lost(f"it was killed by {_signal_name(-code)}" if code < 0 else f"it ended with code {code}")

    def _end(self, worker: _Worker) -> None:
        if worker.process.is_alive():
            worker.process.kill()
            worker.process.join()
        worker.connection.close()


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        # Real-time signals have no names.
        return f"signal {number}"


def _serve(connection: Connection[Any, Any], content: bytes) -> None:
    """Do the tasks of a connection with the pickled work, until the process ends."""
    # Control-C reaches all processes of a terminal; the parent process ends this one.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # Ends through an exception, so that no half-written file stays.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    limit_threads(1)
    tasks: SimpleQueue[bytes] = SimpleQueue()
    threading.Thread(target=_receive, args=(connection, tasks), daemon=True).start()
    # Raised if the parent has ended; `_receive` finds that out too, at about the same time.
    with suppress(ConnectionError):
        _answer(connection, content, tasks)


def _answer(connection: Connection[Any, Any], content: bytes, tasks: SimpleQueue[bytes]) -> None:
    """Load the pickled work and send the result of each task.

    Raises:
        ConnectionError: The parent has ended.
    """
    try:
        work = pickle.loads(content)  # nosec B301 # from its own parent
    except Exception as error:
        connection.send(failed(error))
        return
    connection.send(Ready())
    while True:
        try:
            answer = ForkingPickler.dumps(attempt(work, pickle.loads(tasks.get()), connection.send))  # nosec B301
        except Exception as error:
            # A task or a result that cannot be pickled.
            answer = ForkingPickler.dumps(failed(error))
        connection.send_bytes(answer)


def _receive(connection: Connection[Any, Any], tasks: SimpleQueue[bytes]) -> None:
    """Read tasks as soon as they arrive, so that the sender never waits; end this process if its parent has ended."""
    try:
        while True:
            tasks.put(connection.recv_bytes())
    except (EOFError, OSError):
        os._exit(1)
