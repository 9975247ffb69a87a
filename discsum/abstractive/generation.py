"""Generation settings of abstractive summaries."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from discsum.constants import BEAMS
from discsum.signature import Signature


@dataclass(frozen=True)
class Generation:
    """Beams, limits of a summary's tokens (by default the model's), and whether long documents are truncated."""

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
        """Settings that scores depend on."""
        named = {"min_tokens": self.min_tokens, "max_tokens": self.max_tokens, "truncate": self.truncate or None}
        given = {name: value for name, value in named.items() if value is not None}
        return Signature.of(beams=self.beams, **given)
