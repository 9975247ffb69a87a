"""Sizes and choices of the parser's network."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from msgspec import Meta

from discsum.parsers.edu_vectors import HEADS
from discsum.parsers.structure import DESIGNS
from discsum.recipes.fields import Checked, Count, Dropout, Natural, Share, about, one_of


@dataclass(frozen=True)
class NetworkConfig(Checked):
    """Sizes and choices of a `ParserNetwork`; saved with its weights."""

    design: Annotated[str, one_of(DESIGNS, "How trees are trained and decoded.")] = "chart"
    window: Annotated[Count, about("Subwords per window of the encoder, special ones included.")] = 256
    overlap: Annotated[Natural, about("Subwords that neighbouring windows share.")] = 32
    tagger_hidden: Annotated[Count, about("Channels of the segmenter.")] = 192
    hidden: Annotated[Count, about("Size of an EDU's state.")] = 384
    layers: Annotated[Count, Meta(le=100), about("LSTM layers across EDUs.")] = 2
    transformer: Annotated[Natural, Meta(le=100), about("Transformer layers across EDUs, above the LSTM.")] = 0
    rank: Annotated[Count, about("Size of the split scorer's factors.")] = 128
    label_inner: Annotated[Count, about("Inner size of the label scorer.")] = 384
    label_rank: Annotated[Natural, about("Size of the product of both children's projections for labels; 0: none.")] = 0
    label_edges: Annotated[
        Natural, about("Size of a projection of the subwords at both children's ends for labels; 0 for none.")
    ] = 0
    label_heads: Annotated[
        bool, about("Whether a second pass labels nodes with the head EDUs that the first pass found.")
    ] = False
    cohesion: Annotated[
        Natural, about("Inner size of the scorer of spans by words and layout; 0 for none. `distance` does not use it.")
    ] = 0
    dropout: Annotated[Dropout, about("Dropout of everything above the encoder.")] = 0.2
    edu_threshold: Annotated[Share, about("Probability above which a subword begins an EDU.")] = 0.5
    sentence_threshold: Annotated[Share, about("Probability above which a subword begins a sentence.")] = 0.5

    def problems(self) -> list[str]:
        """Return a message for windows that overlap by half or more, and for states that cannot be divided.

        With too much overlap, windows would not advance.
        """
        problems = []
        # Numbers below 1 are problems of their own.
        if 1 <= self.window < 4:
            problems.append(f"window: expected at least 4 subwords, got {self.window}")
        elif self.window >= 4 and 2 * self.overlap > self.window - 4:
            most = self.window // 2 - 2
            problems.append(f"overlap: expected 0 to {most} subwords with window {self.window}, got {self.overlap}")
        if self.hidden >= 1 and self.transformer and self.hidden % HEADS:
            problems.append(f"hidden: expected a multiple of {HEADS} with transformer layers, got {self.hidden}")
        elif self.hidden >= 1 and self.hidden % 2:
            problems.append(f"hidden: expected an even number, for an LSTM of two directions, got {self.hidden}")
        return problems
