"""A text with its reference summaries."""

from __future__ import annotations

from dataclasses import dataclass

from discsum.document import Document


@dataclass(frozen=True)
class Pair:
    """A text and its reference summaries, each with one sentence a line.

    Attributes:
        id: The document's name.
        text: The text.
        references: Its summaries.
        document: The text's units and tree, where they came with it.
    """

    id: str
    text: str
    references: tuple[str, ...]
    document: Document | None = None
