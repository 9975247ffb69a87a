"""How summaries are generated, as commands ask for it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from discsum.constants import BEAMS
from discsum.signature import Signature


@dataclass(frozen=True)
class Generation:
    """How summaries are generated.

    Attributes:
        beams: Beams of the search.
        min_tokens: Tokens of a summary, at least; by default as the model has it.
        max_tokens: Tokens of a summary, at most; by default as the model has it.
        truncate: Whether documents are cut where the model's positions end.
    """

    beams: int = BEAMS
    min_tokens: int | None = None
    max_tokens: int | None = None
    truncate: bool = False

    @property
    def options(self) -> dict[str, Any]:
        """Arguments of `AbstractiveSummarizer.summarize`."""
        named = {"min_new_tokens": self.min_tokens, "max_new_tokens": self.max_tokens}
        given = {name: value for name, value in named.items() if value is not None}
        return {"truncate": self.truncate, "num_beams": self.beams, **given}

    @property
    def signature(self) -> Signature:
        """Everything that changes a figure."""
        named = {"min_tokens": self.min_tokens, "max_tokens": self.max_tokens, "truncate": self.truncate or None}
        given = {name: value for name, value in named.items() if value is not None}
        return Signature.of(beams=self.beams, **given)
