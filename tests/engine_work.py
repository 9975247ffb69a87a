"""Work for engines: callables that succeed, fail or kill their worker."""

import os
import signal
import threading
import time
import uuid
import warnings
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from discsum.errors import DiscsumError, FormatError, InputWarning


class Loading:
    """Work that loads something when it is first needed."""

    @cached_property
    def loaded(self):
        return uuid.uuid4().hex

    def __call__(self, task, step):
        step(2)
        return task, os.getpid(), self.loaded


def halfway(task, step):
    """Take some seconds, and report the steps of the first half before the second half."""
    for _ in range(2):
        step(3)
        time.sleep(2)
    return task


def slow(task, step):
    """Take half a minute."""
    time.sleep(30)
    return task


@dataclass(frozen=True)
class Dying:
    """Work that writes its process ID to a folder, and kills its process at task 1, `times` times in all."""

    folder: Path
    times: int
    number: int = signal.SIGKILL

    def __call__(self, task, step):
        (self.folder / f"{uuid.uuid4().hex}.begun").write_text(f"{task} {os.getpid()}")
        step(1)
        deaths = self.folder / "deaths"
        if task == 1 and (len(deaths.read_text()) if deaths.is_file() else 0) < self.times:
            with deaths.open("a") as file:
                file.write("x")
            # Until the first step has been received.
            time.sleep(0.3)
            os.kill(os.getpid(), self.number)
        step(1)
        return task


def begun(folder):
    """Return the tasks that `Dying` began, each as often as it was begun."""
    return sorted(int(path.read_text().split()[0]) for path in folder.glob("*.begun"))


class OwnError(DiscsumError):
    """An error that cannot be unpickled."""

    def __init__(self, first, second):
        super().__init__(f"{first} and {second}")


def failing(task, step):
    """Raise the error that the task names, or return a result that cannot be pickled."""
    if task == "format":
        raise FormatError("expected a tree, got rain", source="mill.rs3", line=3)
    if task == "own":
        raise OwnError("wind", "rain")
    if task == "result":
        return threading.Lock()
    raise ValueError(task)


@dataclass(frozen=True)
class Waiting:
    """Work that writes its process ID to a folder and then sleeps for an hour."""

    folder: Path

    def __call__(self, task, step):
        (self.folder / f"{task}.begun").write_text(str(os.getpid()))
        time.sleep(3600)


@dataclass(frozen=True)
class Placed:
    """Work that leaves a file per run of a task in a folder, and returns the node of its worker: the parent process."""

    folder: Path

    def __call__(self, task, step):
        (self.folder / f"{task}.{uuid.uuid4().hex}").touch()
        time.sleep(0.1)
        return task, os.getppid()


@dataclass(frozen=True)
class KilledOnce:
    """Work that kills its worker in the middle of the first task that reports a step."""

    work: object
    mark: Path

    def __call__(self, task, step):
        def told(steps):
            step(steps)
            try:
                self.mark.touch(exist_ok=False)
            except FileExistsError:
                return
            os.kill(os.getpid(), signal.SIGKILL)

        return self.work(task, told)


@dataclass(frozen=True)
class EngineWithKilledWorker:
    """Wraps an engine so that one of its workers is killed in the middle of a task."""

    engine: object
    mark: Path

    def results_of(self, work, tasks, step):
        return self.engine.results_of(KilledOnce(work, self.mark), tasks, step)


class Unreadable:
    """Work that cannot be unpickled."""

    def __reduce__(self):
        return _refuse, ()

    def __call__(self, task, step):
        """Do nothing."""


def _refuse():
    raise DiscsumError("expected weights here, found none")


def running(process):
    """Return whether a process is running."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except FileNotFoundError:
        return False


def warn_of(task, step):
    """Warn about a text."""
    warnings.warn(f"text {task} looks odd", InputWarning, stacklevel=2)
    return task
