"""The document encoder: transformer layers whose attention comes from a head, and a scorer of units.

Xiao, Huber, Carenini 2020, section 3, after the Synthesizer of Tay et al. 2020: two layers, layer norm
after each sub-layer, sinusoidal positions added to the input scaled by sqrt(d), then an MLP and a sigmoid.
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Any

import torch
from torch import Tensor, nn

from discsum.encoder.heads import Head, HeadConfig, make_head


@dataclass(frozen=True)
class SynthesizerConfig:
    """Sizes of a `Synthesizer`; saved with its weights.

    Attributes:
        head: Name of the attention head.
        width: Size `d` of a unit vector.
        features: Number of layout features a unit, added through one linear map; 0 as in the paper.
        layers: Transformer layers.
        heads: Attention heads.
        key_size: Size `d_k` of keys and queries, where the head has them.
        value_size: Size `d_v` of a head's values.
        inner: Size of the feed-forward layers.
        scorer: Inner size of the scoring MLP.
        dropout: Dropout of every part.
    """

    head: str = "c_tree_nuc"
    width: int = 384
    features: int = 0
    layers: int = 2
    heads: int = 1
    key_size: int = 64
    value_size: int = 64
    inner: int = 3072
    scorer: int = 100
    dropout: float = 0.1

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as a dictionary."""
        return asdict(self)


class SynthesizerLayer(nn.Module):
    """`X_out = A . G(X)` and a feed-forward layer, each added to its input and normalised."""

    def __init__(self, config: SynthesizerConfig) -> None:
        """Build one layer."""
        super().__init__()
        self.heads, self.value_size = config.heads, config.value_size
        head = HeadConfig(config.width, config.key_size, config.heads, config.dropout)
        self.attention: Head = make_head(config.head, head)
        self.value = nn.Linear(config.width, config.heads * config.value_size)
        self.output = nn.Linear(config.heads * config.value_size, config.width)
        self.feed_forward = nn.Sequential(
            nn.Linear(config.width, config.inner),
            nn.ReLU(),
            nn.Dropout(config.dropout),
            nn.Linear(config.inner, config.width),
        )
        self.attention_norm = nn.LayerNorm(config.width)
        self.feed_forward_norm = nn.LayerNorm(config.width)
        self.dropout = nn.Dropout(config.dropout)

    def forward(self, states: Tensor, prior: Tensor, mask: Tensor) -> Tensor:
        """Return `(batch, units, width)`; arguments as in `Head.forward`."""
        batch, units, _ = states.shape
        # (batch, heads, units, value_size)
        values = self.value(states).view(batch, units, self.heads, self.value_size).transpose(1, 2)
        mixed = self.attention(states, prior, mask) @ values
        update = self.output(mixed.transpose(1, 2).reshape(batch, units, -1))
        states = self.attention_norm(states + self.dropout(update))
        result: Tensor = self.feed_forward_norm(states + self.dropout(self.feed_forward(states)))
        return result


class Synthesizer(nn.Module):
    """Scores the units of documents from their vectors and prior matrices."""

    def __init__(self, config: SynthesizerConfig) -> None:
        """Build the encoder and the scorer."""
        super().__init__()
        self.config = config
        self.features = nn.Linear(config.features, config.width) if config.features else None
        self.layers = nn.ModuleList(SynthesizerLayer(config) for _ in range(config.layers))
        self.dropout = nn.Dropout(config.dropout)
        self.scorer = nn.Sequential(
            nn.Linear(config.width, config.scorer), nn.ReLU(), nn.Dropout(config.dropout), nn.Linear(config.scorer, 1)
        )

    def forward(self, vectors: Tensor, features: Tensor, prior: Tensor, mask: Tensor, first: int = 0) -> Tensor:
        """Return `(batch, units)` logits: the sigmoid of each is the unit's confidence.

        Args:
            vectors: `(batch, units, width)` unit vectors, zero where padded.
            features: `(batch, units, features)`.
            prior: `(batch, units, units)`.
            mask: `(batch, units)`, true where there is a unit.
            first: Position of the first unit in its document.
        """
        states = vectors * math.sqrt(self.config.width)
        if self.features is not None:
            states = states + self.features(features)
        states = self.dropout(states + sinusoids(first, vectors.shape[1], self.config.width, vectors.device))
        for layer in self.layers:
            states = layer(states, prior, mask)
        logits: Tensor = self.scorer(states).squeeze(-1)
        return logits


def sinusoids(first: int, units: int, width: int, device: torch.device) -> Tensor:
    """Return `(units, width)` sinusoidal positions, counted from `first` (Vaswani et al. 2017, section 3.5)."""
    position = torch.arange(first, first + units, device=device, dtype=torch.float32)[:, None]
    rate = torch.exp(torch.arange(0, width, 2, device=device, dtype=torch.float32) * (-math.log(10_000.0) / width))
    table = torch.zeros(units, width, device=device)
    table[:, 0::2] = torch.sin(position * rate)
    table[:, 1::2] = torch.cos(position * rate[: width // 2])
    return table
