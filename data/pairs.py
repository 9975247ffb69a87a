"""A text with its reference summaries."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from discsum.document import Document

if TYPE_CHECKING:
    from discsum.parsers.parser import Encoded, Parser


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


def encode_pairs(pairs: Sequence[Pair], parser: Parser) -> list[Encoded]:
    """Return the texts parsed and encoded together, in order; those that came with trees keep them."""
    bare = [pair for pair in pairs if pair.document is None]
    parsed = iter(parser.encode([pair.text for pair in bare], ids=[pair.id for pair in bare]))
    return [
        next(parsed) if pair.document is None else parser.encode_document(pair.document.with_id(pair.id))
        for pair in pairs
    ]
