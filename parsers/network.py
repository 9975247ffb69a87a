"""The parser's network: one encoding of the text, shared by segmentation, tree structure and labels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

import numpy as np
import torch
from msgspec import Meta
from numpy.typing import NDArray
from torch import Tensor, nn

from discsum.devices import to_device
from discsum.parsers.budgets import concatenate
from discsum.parsers.edu_vectors import HEADS, OPENS_PARAGRAPH, EDUEncoder, EDULayout, opening_kinds
from discsum.parsers.encoder import WindowEncoder
from discsum.parsers.labels import Label, LabelConfig, LabelInputs, LabelScorer
from discsum.parsers.segmenter import BoundaryTagger
from discsum.parsers.structure import DESIGNS, SplitScorer
from discsum.parsers.structure.cohesion import lexical_bags
from discsum.parsers.subwords import Subwords
from discsum.recipes.fields import Checked, Count, Dropout, Natural, Share, about, one_of
from discsum.relation_classes import GUM_CLASSES, RelationClasses


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


class ParserNetwork(nn.Module):
    """Encoder, boundary tagger, EDU encoder, split scorer and label scorer."""

    def __init__(
        self,
        encoder: nn.Module,
        special: tuple[int, int, int],
        labels: Sequence[Label],
        config: NetworkConfig,
        relation_classes: RelationClasses = GUM_CLASSES,
    ) -> None:
        """Build the parts around a Hugging Face `encoder`; `special` as in `WindowEncoder`."""
        super().__init__()
        self.config = config
        self.encoder = WindowEncoder(encoder, special, config.window, config.overlap)
        width = self.encoder.width
        self.tagger = BoundaryTagger(width, config.tagger_hidden, dropout=config.dropout)
        self.edus = EDUEncoder(width, config.hidden, config.layers, config.dropout, config.transformer)
        self.splits = SplitScorer(config.hidden, config.rank, config.dropout, config.cohesion)
        reads = LabelConfig(
            config.label_inner, config.dropout, config.label_rank, config.label_edges, config.label_heads
        )
        self.labels = LabelScorer(labels, config.hidden, width, reads, relation_classes)

    @property
    def device(self) -> torch.device:
        """The device of the weights."""
        return next(self.parameters()).device

    @property
    def thresholds(self) -> tuple[float, float]:
        """The probabilities above which a subword begins an EDU, and a sentence."""
        return self.config.edu_threshold, self.config.sentence_threshold

    def tag(self, vectors: Sequence[Tensor], documents: Sequence[Subwords]) -> list[Tensor]:
        """Return `(subwords, 3)` boundary logits for each document's subword vectors."""
        gaps = [torch.from_numpy(document.gaps) for document in documents]
        cases = [torch.from_numpy(document.cases) for document in documents]
        logits: list[Tensor] = self.tagger(vectors, gaps, cases)
        return logits

    def layout(
        self, subwords: Subwords, edu_starts: NDArray[np.int64], sentence_starts: NDArray[np.int64]
    ) -> EDULayout:
        """Return the layout of EDUs, from the indices in `subwords` at which EDUs and sentences begin."""
        ends = np.maximum(np.append(edu_starts[1:], len(subwords)), edu_starts + 1)
        opens = np.zeros(len(subwords), dtype=bool)
        opens[sentence_starts] = True
        openings = np.append(opening_kinds(subwords, opens, edu_starts), OPENS_PARAGRAPH)
        bags = lexical_bags(subwords.ids, edu_starts) if self.config.cohesion else None
        return EDULayout.of(edu_starts, ends, openings, bags)

    def read_edus(
        self, vectors: Sequence[Tensor], layouts: Sequence[EDULayout]
    ) -> tuple[Tensor, EDULayout, Tensor | None]:
        """Return the EDU states `(edus, hidden)` of some documents, their common layout, and the result of `edges`.

        Args:
            vectors: Subword vectors `(subwords, width)` of each document.
            layouts: Layout of each document's EDUs.
        """
        joined = concatenate(vectors)
        layout = EDULayout.concatenate(layouts, [len(own) for own in vectors])
        states = self.edus.in_context(self.edus.pool(joined, layout), [len(own.starts) for own in layouts])
        return states, layout, self.edges(joined, layout)

    def edges(self, vectors: Tensor, layout: EDULayout) -> Tensor | None:
        """Return `LabelInputs.edges` from subword vectors `(subwords, width)`; None if labels do not read them."""
        if not self.config.label_edges:
            return None
        ends = torch.stack([layout.starts, layout.ends - 1], dim=1)
        # (edus, 2, width)
        return self.labels.ends(vectors[ends.to(vectors.device, non_blocking=True)])

    def label(self, states: Tensor, layout: EDULayout, edges: Tensor | None, nodes: NDArray[np.int64]) -> list[Tensor]:
        """Return the logits `(nodes, labels)` of each pass of the label scorer; use those of the last.

        Args:
            states: `(edus, hidden)`.
            layout: Layout of the EDUs.
            edges: Result of `edges`.
            nodes: `(nodes, 3)` first, last and split.
        """
        found: list[Tensor] = self.labels(
            LabelInputs(states, layout.openings.to(self.device), edges), to_device(nodes, self.device)
        )
        return found
