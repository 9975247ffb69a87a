"""Choices of coarse-to-fine models by name, and the shapes of chunks."""

from __future__ import annotations

import re

from discsum.errors import InputError

# One sequence of words; soft attention over chunks; one chunk (or some) chosen at each step.
STANDARD, HIER, C2F = VARIANTS = ("standard", "hier", "c2f")
# Encoders of a chunk's coarse vector: a convolution over its words, or the sum of their embeddings.
CONV, BOW = COARSE = ("conv", "bow")
# Chunks that follow the text's own structure, as an alternative to shapes such as `10x40`.
SENTENCES, SUBTREES = STRUCTURES = ("sentences", "subtrees")


def shape_of(chunks: str) -> tuple[int, int] | None:
    """Return the rows, and the words per row, of a shape such as `10x40`; None for `sentences` and `subtrees`.

    Raises:
        InputError: Another name, or a shape without rows or words.
    """
    if chunks in STRUCTURES:
        return None
    found = re.fullmatch(r"([1-9]\d*)x([1-9]\d*)", chunks)
    if found is None:
        raise InputError(
            f"chunks: expected {', '.join(STRUCTURES)}, or rows of words such as 10x40, 5x80 or 2x200, got {chunks!r}"
        )
    return int(found[1]), int(found[2])


def check_chunks(chunks: str, attend_padding: bool | None) -> None:
    """Check a shape or structure of chunks, and whether attention may fall on its padding.

    Raises:
        InputError: As `shape_of`; or attention to padding without a shape.
    """
    if shape_of(chunks) is None and attend_padding:
        raise InputError(f"attend_padding: cannot be used with chunks {chunks}, whose padding depends on the batch")
