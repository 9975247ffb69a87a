"""The parser's network: one encoding of the text, shared by segmentation, tree structure and labels."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from discsum.devices import to_device
from discsum.parsers.budgets import concatenate
from discsum.parsers.edu_vectors import OPENS_PARAGRAPH, EDUEncoder, EDULayout, opening_kinds
from discsum.parsers.encoder import WindowEncoder
from discsum.parsers.labels import Label, LabelInputs, LabelScorer
from discsum.parsers.network_config import NetworkConfig
from discsum.parsers.segmenter import BoundaryTagger
from discsum.parsers.structure import SplitScorer
from discsum.parsers.structure.cohesion import lexical_bags
from discsum.parsers.subwords import Subwords
from discsum.relation_classes import GUM_CLASSES, RelationClasses


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
        self.labels = LabelScorer(labels, width, config, relation_classes)

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
        openings = layout.openings.to(self.device, non_blocking=True)
        found: list[Tensor] = self.labels(LabelInputs(states, openings, edges), to_device(nodes, self.device))
        return found
