"""The parser's network: one encoding of the text, and all that is read off it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from discsum.errors import InputError
from discsum.parsers.edu_vectors import EDUEncoder, EDULayout
from discsum.parsers.encoder import WindowEncoder
from discsum.parsers.labels import Label, LabelScorer
from discsum.parsers.segmenter import BoundaryTagger
from discsum.parsers.structure import SplitScorer
from discsum.parsers.structure.cohesion import lexical_bags
from discsum.parsers.subwords import Subwords


@dataclass(frozen=True)
class NetworkConfig:
    """Sizes and choices of a `ParserNetwork`; saved with its weights.

    Attributes:
        design: How trees are trained and decoded: `chart`, `top_down` or `distance`.
        window: Subwords a window of the encoder, special ones included.
        overlap: Subwords neighbouring windows share.
        tagger_hidden: Channels of the segmenter.
        hidden: Size of an EDU's state.
        layers: LSTM layers across EDUs.
        rank: Size of the split scorer's factors.
        label_inner: Inner size of the label scorer.
        cohesion: Inner size of what rates spans by words and layout; 0 for none. `distance` rates no spans.
        dropout: Dropout of everything above the encoder.
        edu_threshold: Probability above which a subword begins an EDU.
        sentence_threshold: Probability above which it begins a sentence.
    """

    design: str = "chart"
    window: int = 256
    overlap: int = 32
    tagger_hidden: int = 192
    hidden: int = 384
    layers: int = 2
    rank: int = 128
    label_inner: int = 384
    cohesion: int = 0
    dropout: float = 0.2
    edu_threshold: float = 0.5
    sentence_threshold: float = 0.5

    def __post_init__(self) -> None:
        """Check that there is something of everything, and that windows move on.

        An overlap of half a window or more would keep them where they are.
        """
        for name in ("window", "tagger_hidden", "hidden", "layers", "rank", "label_inner"):
            if getattr(self, name) < 1:
                raise InputError(f"network.{name}: expected at least 1, got {getattr(self, name)}")
        if self.cohesion < 0:
            raise InputError(f"network.cohesion: expected 0 for none, or more, got {self.cohesion}")
        if not 0 <= 2 * self.overlap <= self.window - 4:
            raise InputError(
                f"network.overlap: expected 0 to {max(0, self.window // 2 - 2)} subwords with network.window "
                f"{self.window}, got {self.overlap}"
            )

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as a dictionary."""
        return asdict(self)


class ParserNetwork(nn.Module):
    """Encoder, boundary tagger, EDU encoder, split scorer and label scorer."""

    def __init__(
        self, encoder: nn.Module, special: tuple[int, int, int], labels: Sequence[Label], config: NetworkConfig
    ) -> None:
        """Build the parts around a Hugging Face `encoder`; `special` as in `WindowEncoder`."""
        super().__init__()
        self.config = config
        self.encoder = WindowEncoder(encoder, special, config.window, config.overlap)
        width = self.encoder.width
        self.tagger = BoundaryTagger(width, config.tagger_hidden, dropout=config.dropout)
        self.edus = EDUEncoder(width, config.hidden, config.layers, config.dropout)
        self.splits = SplitScorer(config.hidden, config.rank, config.dropout, config.cohesion)
        self.labels = LabelScorer(labels, config.hidden, config.label_inner, config.dropout)

    @property
    def device(self) -> torch.device:
        """Where the weights are."""
        return next(self.parameters()).device

    def tag(self, vectors: Sequence[Tensor], documents: Sequence[Subwords]) -> list[Tensor]:
        """Return `(subwords, 3)` boundary logits for each document's subword vectors."""
        gaps = [torch.from_numpy(document.gaps).to(self.device) for document in documents]
        cases = [torch.from_numpy(document.cases).to(self.device) for document in documents]
        logits: list[Tensor] = self.tagger(vectors, gaps, cases)
        return logits

    def layout(
        self, subwords: Subwords, edu_starts: NDArray[np.int64], sentence_starts: NDArray[np.int64]
    ) -> EDULayout:
        """Return the layout of EDUs that begin at the given subwords; both index `subwords`."""
        opens = np.isin(edu_starts, sentence_starts)
        openings = np.where(opens, np.maximum(subwords.gaps[edu_starts], 1), 0)
        starts, levels = (torch.from_numpy(array).to(self.device) for array in (edu_starts, openings))
        if not self.config.cohesion:
            return EDULayout(starts, levels)
        return EDULayout(starts, levels, torch.from_numpy(lexical_bags(subwords.ids, edu_starts)).to(self.device))
