"""Recipes of summarizers with a compressed encoder."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated

from discsum.abstractive.compressed.config import CompressionConfig
from discsum.abstractive.recipe import LOWERCASE, WORDS, AbstractiveRecipe, Vocabulary
from discsum.recipes.fields import Checked, Count, Dropout, Positive, Share, about


@dataclass(frozen=True)
class Network(Checked):
    """Sizes of a new PEGASUS that copies; the defaults are those of Yap et al., section 4.2."""

    width: Annotated[Count, about("Size of a hidden state.")] = 512
    layers: Annotated[Count, about("Number of layers in the encoder, and in the decoder.")] = 4
    heads: Annotated[Count, about("Number of attention heads.")] = 8
    inner: Annotated[Count, about("Size of the feed-forward layers.")] = 2048
    positions: Annotated[Count, about("Maximum number of input tokens, and of output tokens.")] = 1024
    position_base: Annotated[Positive, about("Base of the sinusoids' wavelengths; the paper's text has 1,000.")] = (
        10_000.0
    )
    dropout: Annotated[Dropout, about("Dropout of states, attention weights and feed-forward networks.")] = 0.2

    def problems(self) -> list[str]:
        """Return a problem for a width that is odd or not a multiple of the number of heads."""
        # Fewer than one head is a problem of its own.
        if self.heads < 1 or (self.width % self.heads == 0 and self.width % 2 == 0):
            return []
        return [f"width: expected an even multiple of {self.heads} heads, got {self.width}"]


@dataclass(frozen=True, kw_only=True)
class CompressedRecipe(AbstractiveRecipe):
    """Settings of a training run of a model whose encoder may be compressed (Yap et al.)."""

    family: str = "compressed"
    source_tokens: int = 400
    target_tokens: int = 100
    network: Annotated[Network, about("Sizes of a new model.")] = field(default_factory=Network)
    vocabulary: Annotated[
        Vocabulary, about("Number of most frequent training words; other words can only be copied.")
    ] = WORDS
    lowercase: Annotated[bool, about("Whether words are lowercased.")] = LOWERCASE
    encoder: Annotated[CompressionConfig | None, about("How the encoder is compressed; none for full attention.")] = (
        None
    )
    sentence_tags: Annotated[
        bool, about("Whether summaries are learned with the tags <t> and </t> around each line of a reference.")
    ] = False
    smoothing: Annotated[
        Share, about("Label smoothing: probability spread over the vocabulary (Szegedy et al. 2016).")
    ] = 0.1

    def problems(self) -> list[str]:
        """Return what is wrong with the fields."""
        found = super().problems()
        if self.task != "summarize":
            found.append(f"task: expected summarize for the family {self.family}, got {self.task!r}")
        found += self.beyond(self.network.positions, "network.positions")
        if self.model is None and self.encoder is not None and self.network.width % max(1, self.encoder.groups):
            found.append(
                f"encoder.groups: expected a divisor of network.width {self.network.width}, got {self.encoder.groups}"
            )
        return found
