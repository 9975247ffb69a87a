"""A text with its reference summaries."""

from __future__ import annotations

from dataclasses import dataclass

from discsum.document import Document


@dataclass(frozen=True)
class Pair:
    """A text and its reference summaries, each with one sentence a line.

    Attributes:
        document: The parsed text, if the input had it.
    """

    id: str
    text: str
    references: tuple[str, ...]
    document: Document | None = None
