"""Generation settings of abstractive summaries."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from discsum.constants import BEAMS
from discsum.signature import Signature


@dataclass(frozen=True)
class Generation:
    """Beams, limits of a summary's tokens (by default the model's), and whether long documents are truncated.

    The last three are those of `discsum.abstractive.penalties.Penalties`.
    """

    beams: int = BEAMS
    min_tokens: int | None = None
    max_tokens: int | None = None
    truncate: bool = False
    length_penalty: float | None = None
    coverage_penalty: float | None = None
    block_trigrams: bool = False

    @property
    def options(self) -> dict[str, Any]:
        """Arguments of `AbstractiveSummarizer.summarize`."""
        named: dict[str, Any] = {"min_new_tokens": self.min_tokens, "max_new_tokens": self.max_tokens}
        penalties = (self.length_penalty, self.coverage_penalty, self.block_trigrams)
        if any(value not in (None, False) for value in penalties):
            from discsum.abstractive.penalties import Penalties

            named["penalties"] = Penalties(*penalties)
        given = {name: value for name, value in named.items() if value is not None}
        return {"truncate": self.truncate, "num_beams": self.beams, **given}

    @property
    def signature(self) -> Signature:
        """Settings that scores depend on."""
        named = {
            "min_tokens": self.min_tokens,
            "max_tokens": self.max_tokens,
            "truncate": self.truncate or None,
            "length_penalty": self.length_penalty,
            "coverage_penalty": self.coverage_penalty,
            "block_trigrams": self.block_trigrams or None,
        }
        given = {name: value for name, value in named.items() if value is not None}
        return Signature.of(beams=self.beams, **given)
