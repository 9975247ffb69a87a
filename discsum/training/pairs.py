"""A text with its reference summaries."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Pair:
    """A text and its reference summaries, each with one sentence a line."""

    id: str
    text: str
    references: tuple[str, ...]
