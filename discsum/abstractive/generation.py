"""Settings of abstractive summaries, checked without loading a model."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from discsum.abstractive.search_settings import check_beams, check_penalties, check_ranked
from discsum.constants import BEAMS, SHIPPED_PARSER
from discsum.errors import InputError
from discsum.signature import Signature


@dataclass(frozen=True)
class Generation:
    """Number of beams, token limits of a summary (by default the model's), truncation of documents, and penalties.

    The last three fields are the arguments of `discsum.abstractive.penalties.Penalties`.

    Raises:
        InputError: Beams, limits or penalties out of range, or a length or coverage penalty with a single beam.
    """

    beams: int = BEAMS
    min_tokens: int | None = None
    max_tokens: int | None = None
    truncate: bool = False
    length_penalty: float | None = None
    coverage_penalty: float | None = None
    block_trigrams: bool = False

    def __post_init__(self) -> None:
        """Check the number of beams, the penalties and the limits."""
        check_beams(self.beams)
        check_penalties(self.length_penalty, self.coverage_penalty)
        if (self.length_penalty, self.coverage_penalty) != (None, None):
            check_ranked(self.beams)
        if self.min_tokens is not None and self.max_tokens is not None and self.min_tokens > self.max_tokens:
            raise InputError(
                f"min_tokens (--min-tokens): expected at most max_tokens (--max-tokens) {self.max_tokens}, got "
                f"{self.min_tokens}"
            )

    @property
    def options(self) -> dict[str, Any]:
        """Arguments of `AbstractiveSummarizer.summarize`."""
        named: dict[str, Any] = {"min_new_tokens": self.min_tokens, "max_new_tokens": self.max_tokens}
        # 0 differs from None: it turns off the model's own length penalty.
        if self.block_trigrams or (self.length_penalty, self.coverage_penalty) != (None, None):
            from discsum.abstractive.penalties import Penalties

            named["penalties"] = Penalties(self.length_penalty, self.coverage_penalty, self.block_trigrams)
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


@dataclass(frozen=True)
class AbstractiveOptions:
    """The options of abstractive summaries.

    Attributes:
        model: Folder of a sequence-to-sequence model, or `hf:NAME` on the hub.
        generation: Settings of the search.
        settings: Options of the model's family, such as `selector`.
        sentences: Sentence segmentation of texts.
        parser: Name or folder of the parser, or `hf:NAME` on the hub, for texts that come without a tree.
        device: Device of model and parser.
    """

    model: str
    generation: Generation = Generation()
    settings: Mapping[str, Any] = field(default_factory=dict)
    sentences: str = "model"
    parser: str = SHIPPED_PARSER
    device: str = "cpu"
