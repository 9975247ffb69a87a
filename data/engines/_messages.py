"""Messages of a worker to the process that gives it tasks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Ready:
    """The worker is ready for tasks."""


@dataclass(frozen=True)
class Steps:
    """Number of steps of the current task done since the task began."""

    count: int


@dataclass(frozen=True)
class Done:
    """The current task is done: its result, its number of steps, and its warnings about texts and files."""

    result: Any
    count: int
    warned: tuple[str, ...] = ()


@dataclass(frozen=True)
class Failed:
    """The current task, or the start of the worker, raised an error, with this traceback."""

    error: Exception
    traceback: str


@dataclass(frozen=True)
class Lost:
    """The worker has died; the engine sends this in its place."""

    reason: str


Message = Ready | Steps | Done | Failed | Lost
