"""What a worker tells the process that gives it tasks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Ready:
    """The worker can do tasks."""


@dataclass(frozen=True)
class Steps:
    """So many steps of its present task are done, since the task began."""

    count: int


@dataclass(frozen=True)
class Done:
    """Its present task is done: the result, all steps of the task, and what was warned of texts and files."""

    result: Any
    count: int
    warned: tuple[str, ...] = ()


@dataclass(frozen=True)
class Failed:
    """Its present task raised an error, with this traceback."""

    error: Exception
    traceback: str


@dataclass(frozen=True)
class Lost:
    """The worker has died; told by the engine in its place."""

    reason: str


Message = Ready | Steps | Done | Failed | Lost
