"""Parts of a dataset, made by independent runs such as the jobs of a job array."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Self

from discsum.errors import InputError


@dataclass(frozen=True)
class Part:
    """Part `number` (from 1) of `count`: every `count`-th shard, starting with the shard of that number.

    Raises:
        InputError: A `number` that is not from 1 to `count`.
    """

    number: int
    count: int

    def __post_init__(self) -> None:
        """Check the numbers."""
        if not 1 <= self.number <= self.count:
            raise InputError(f"part: expected I/N with I from 1 to N, got {self}")

    @classmethod
    def of(cls, text: str) -> Self:
        """Return the part that the command line names as `I/N`.

        Raises:
            InputError: Not a part.
        """
        match = re.fullmatch(r"(\d{1,9})/(\d{1,9})", text, re.ASCII)
        if match is None:
            raise InputError(f"part: expected I/N, such as 2/8 for the second of eight parts, got {text!r}")
        return cls(*map(int, match.groups()))

    def __str__(self) -> str:
        """Return it as the command line names it."""
        return f"{self.number}/{self.count}"

    def has(self, shard: int) -> bool:
        """Return whether the shard of a number (from 0) is in this part."""
        return shard % self.count == self.number - 1


# All shards.
WHOLE = Part(1, 1)
