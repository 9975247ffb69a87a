"""The exceptions of discsum: one base, a subclass a stage."""

from __future__ import annotations


class DiscsumError(Exception):
    """Anything that discsum reports to its user: what was expected, what came, what to do."""


class InputError(DiscsumError):
    """A text, file or option that cannot be used as it came."""


class FormatError(InputError):
    """A tree file that does not hold what its format promises."""

    def __init__(self, message: str, *, source: str = "", line: int | None = None) -> None:
        """Put `source` and the 1-based `line` where the fault lies before the message."""
        place = source if line is None else f"{source or 'line'}:{line}"
        super().__init__(f"{place}: {message}" if place else message)
        self.source = source
        self.line = line


class TreeError(DiscsumError, ValueError):
    """Nodes that are no full binary tree over the EDUs; the message names the node."""


class WeightsError(DiscsumError):
    """A model folder that is missing, damaged, or of another architecture."""


class MissingExtraError(DiscsumError, ImportError):
    """An optional dependency that is not installed; the message is the command to run."""
