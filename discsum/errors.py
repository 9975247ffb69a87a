"""The exceptions of discsum, one base class and one subclass per stage, and its warnings."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Sequence
from types import FrameType

_PACKAGE = __name__.partition(".")[0]


class DiscsumError(Exception):
    """Base of all errors for users; messages say what was expected, what was found, and what to do."""


class InputError(DiscsumError, ValueError):
    """An invalid text, file or option."""


class NoAnswerError(InputError):
    """A store that does not answer; what it holds may be intact."""


class LockedError(InputError):
    """A folder that another run is using."""


class DamagedError(InputError):
    """A shard of a finished folder that is missing or altered."""


class FormatError(InputError):
    """A tree file that violates its format."""

    def __init__(self, message: str, *, source: str = "", line: int | None = None) -> None:
        """Prefix the message with `source` and the 1-based `line` of the fault."""
        super().__init__(_located(message, source, line))
        self.source = source
        self.line = line


class OutputError(DiscsumError):
    """The one output of a run that cannot be written any more, which ends the run."""


class InputWarning(UserWarning):
    """A text or file that was read, but whose result may be wrong."""


class FormatWarning(InputWarning):
    """A tree file that is read although something is unusual; the message says what and how it was read."""

    def __init__(self, message: str, *, source: str = "", line: int | None = None) -> None:
        """Prefix the message with `source` and the 1-based `line`."""
        super().__init__(_located(message, source, line))


def warn_caller(message: str | Warning) -> None:
    """Issue an `InputWarning`, or the given warning, at the line that called discsum, however deep in it this is."""
    frame: FrameType | None = sys._getframe()
    level = outermost = 1
    while frame is not None:
        if str(frame.f_globals.get("__name__")).partition(".")[0] == _PACKAGE:
            outermost = level
        frame, level = frame.f_back, level + 1
    warning = message if isinstance(message, Warning) else InputWarning(message)
    warnings.warn(warning, stacklevel=outermost + 1)


def message_of(error: Exception) -> str:
    """Return an error's message; for an error of the operating system, `file: what is wrong`."""
    if isinstance(error, OSError) and error.filename is not None and error.strerror:
        return f"{error.filename}: {error.strerror}"
    return str(error)


def number_of(count: float, noun: str) -> str:
    """Return a count with its noun for a message: `1 file`, `0.5 GPU`, `2 files`, `0 files`."""
    shown = f"{count:g}" if isinstance(count, float) else str(count)
    return f"{shown} {noun}" if 0 < count <= 1 else f"{shown} {noun}s"


def few(names: Sequence[object], shown: int = 3) -> str:
    """Return the first of several names for a message, and the number of the others: `a, b, c and 2 more`."""
    more = f" and {len(names) - shown} more" if len(names) > shown else ""
    return f"{', '.join(map(str, names[:shown]))}{more}"


def _located(message: str, source: str, line: int | None) -> str:
    place = source if line is None else f"{source or 'line'}:{line}"
    return f"{place}: {message}" if place else message


class TreeError(DiscsumError, ValueError):
    """Nodes that do not form a full binary tree over the EDUs; the message names the node."""


class WeightsError(DiscsumError):
    """A model folder that is missing, damaged, or of another architecture."""


class MissingExtraError(DiscsumError, ImportError):
    """An optional dependency that is not installed; the message has the command to run."""
