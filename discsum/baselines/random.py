"""Random: randomly chosen units, the same for the same text and seed."""

from __future__ import annotations

import zlib
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from discsum.baselines import BASELINES
from discsum.document import Document
from discsum.errors import InputError
from discsum.scoring import Scores, UnitScorer
from discsum.selection import unit_texts


@BASELINES.register("random")
@dataclass(frozen=True)
class Random(UnitScorer):
    """Random units, which only depend on the text and the seed, not on what was summarized before.

    Raises:
        InputError: A seed that is not a whole number of at least 0.
    """

    seed: int = 0
    name: ClassVar[str] = "random"

    def __post_init__(self) -> None:
        """Check the seed."""
        if isinstance(self.seed, bool) or not isinstance(self.seed, int) or self.seed < 0:
            raise InputError(f"seed: expected a whole number of at least 0, got {self.seed!r}")

    @property
    def settings(self) -> dict[str, int]:
        """The seed."""
        return {"seed": self.seed}

    def score(self, document: Document, unit: str) -> Scores:
        """Return scores `(units,)` drawn uniformly from [0, 1)."""
        # The text is part of the seed: otherwise all documents of equal length would get the same positions.
        generator = np.random.default_rng([self.seed, zlib.crc32(document.text.encode("utf-8", "surrogatepass"))])
        return generator.random(len(unit_texts(document, unit)))
