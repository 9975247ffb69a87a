"""The TensorBoard log of a run."""

from __future__ import annotations

import os
import socket
import time
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any


class TensorBoardLog:
    """The TensorBoard log of a run; if it cannot be written, logging stops and the run continues.

    It does not use torch's `SummaryWriter`, whose thread crashes the run if the disk is full.
    """

    def __init__(self, folder: Path, done: int, report: Callable[[str], None]) -> None:
        """Start a new log file in `folder` after step `done`; write nothing if TensorBoard is not installed."""
        self._folder, self._report = folder, report
        self._path: Path | None = None
        try:
            self._events: Any = import_module("tensorboard.compat.proto.event_pb2")
            self._figures: Any = import_module("tensorboard.compat.proto.summary_pb2")
            self._records: Any = import_module("tensorboard.summary.writer.record_writer")
        except ImportError:
            return
        self._path = folder / f"events.out.tfevents.{time.time_ns()}.{socket.gethostname()}.{os.getpid()}"
        # Tells TensorBoard to discard later steps that a killed run wrote.
        start = self._events.SessionLog(status=self._events.SessionLog.START)
        self._write({"file_version": "brain.Event:2"}, {"session_log": start}, step=done + 1)

    def add(self, figures: dict[str, float], step: int) -> None:
        """Write the figures of a step, by name."""
        if self._path is None:
            return
        values = [self._figures.Summary.Value(tag=name, simple_value=value) for name, value in figures.items()]
        self._write({"summary": self._figures.Summary(value=values)}, step=step)

    def _write(self, *events: dict[str, Any], step: int) -> None:
        assert self._path is not None, "there is a file to write to"
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            with self._path.open("ab") as file:
                for event in events:
                    whole = self._events.Event(wall_time=time.time(), step=step, **event)
                    self._records.RecordWriter(file).write(whole.SerializeToString())
        except OSError as error:
            self._report(f"{self._path}: TensorBoard's log cannot be written ({error}); the run continues without it")
            self._path = None
