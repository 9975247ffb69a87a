"""The document encoder: transformer layers with interchangeable attention heads, and an MLP that scores units.

It follows Xiao, Huber, Carenini 2020, section 3, based on the Synthesizer of Tay et al. 2020: two layers, layer norm
after each sub-layer, sinusoidal positions added to the input scaled by sqrt(d), then an MLP and a sigmoid. The paper
does not mention the scaling, and the released code has none (`SynthesizerConfig.scaled`).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Annotated, Any

import torch
from msgspec import Meta
from torch import Tensor, nn

from discsum.encoder.heads import HEADS
from discsum.encoder.heads.base import HeadConfig, Prior
from discsum.errors import InputError
from discsum.recipes.described import init_fields, unwrapped
from discsum.recipes.fields import Checked, Count, Dropout, Natural, about, convert_value
from discsum.registry import suggestion
from discsum.scoring import ParameterCount


@dataclass(frozen=True)
class SynthesizerConfig(Checked):
    """Sizes of a `Synthesizer`; saved with its weights."""

    head: Annotated[str, about("Name of the attention head.")] = "c_tree_nuc"
    width: Annotated[Count, about("Size `d` of a unit vector; training takes it from the vectors.")] = 384
    features: Annotated[
        Natural,
        about("Layout features per unit, added through a linear map; set by `features` in training, 0 in the paper."),
    ] = 0
    layers: Annotated[Annotated[Count, Meta(le=1000)], about("Transformer layers.")] = 2
    heads: Annotated[Count, about("Attention heads.")] = 1
    key_size: Annotated[Count, about("Size `d_k` of keys and queries, if the head has them.")] = 64
    value_size: Annotated[Count, about("Size `d_v` of a head's values.")] = 64
    inner: Annotated[Count, about("Size of the feed-forward layers.")] = 3072
    scorer: Annotated[Count, about("Inner size of the scoring MLP.")] = 100
    dropout: Annotated[Dropout, about("Dropout of every part.")] = 0.1
    max_units: Annotated[
        Count,
        about(
            "Maximum number of units that attend to each other; longer documents are split into sections, so memory "
            "is linear in their length. Some heads have parameters for exactly this many units."
        ),
    ] = 512
    dense_inner: Annotated[Count, about("Inner size of the dense head.")] = 512
    mixture: Annotated[tuple[str, ...], about("Names of the heads in a `mixed` head.")] = ()
    head_options: Annotated[dict[str, Any], about("Options of other heads, by name.")] = field(default_factory=dict)
    scaled: Annotated[bool, about("Whether unit vectors are multiplied by sqrt(d) before positions are added.")] = True

    def for_head(self) -> HeadConfig:
        """Return the sizes and options of the attention heads."""
        options = {"dense_inner": self.dense_inner, "mixture": self.mixture, **self.head_options}
        return HeadConfig(self.width, self.key_size, self.heads, self.dropout, self.max_units, options)

    def head_problems(self) -> list[str]:
        """Return the problems of the head's name, sizes and options; custom heads must already be registered."""
        names, kinds, found = (self.head, *self.mixture), [], []
        for name in names:
            try:
                kinds.append(HEADS.entry(name).options)
            except InputError as error:
                found.append(f"head: {error}")
        # Fields of their own.
        outside = ("dense_inner", "mixture")
        known = [option.name for kind in kinds if kind for option in fields(kind) if option.name not in outside]
        options = {name: value for name, value in self.head_options.items() if name not in outside}
        unknown = [] if found else [name for name in options if name not in known]
        misplaced = [name for name in outside if name in self.head_options]
        found += [f"head_options.{name}: expected it outside head_options, as {name}" for name in misplaced]
        if self.mixture and self.head != "mixed":
            found.append(f"mixture: expected none with head {self.head}, got {', '.join(self.mixture)}")
        found += [problem for kind in kinds if kind for problem in _wrong_options(kind, options)]
        if not found and not unknown:
            found = HEADS[self.head].problems(self.for_head())
        wanted = f"expected an option of {', '.join(names)} ({', '.join(known) or 'it has none'})"
        return found + [f"head_options.{name}: {wanted}{suggestion(name, known)}" for name in unknown]

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as a dictionary, without `head_options` if there are none."""
        return {name: value for name, value in super().to_dict().items() if value or name != "head_options"}


def _wrong_options(kind: type, given: Mapping[str, Any]) -> list[str]:
    """Return the problems of options whose fields are numbers, switches or strings; heads check other types."""
    try:
        hints = init_fields(kind)
    except NameError:
        # Types that are only imported for type checkers.
        return []
    found = []
    for name, value in given.items():
        if name in hints and unwrapped(hints[name])[2] in (bool, int, float, str):
            try:
                convert_value(hints[name], value, f"head_options.{name}")
            except InputError as error:
                found.append(str(error))
    return found


@dataclass(frozen=True)
class InputBatch:
    """Padded inputs of several documents.

    Attributes:
        vectors: `(batch, units, width)` unit vectors; finite padding has no effect.
        features: `(batch, units, features)` layout features.
        prior: Arrays that the head reads from each document's tree.
        mask: `(batch, units)`, true for units and false for padding.
    """

    vectors: Tensor
    features: Tensor
    prior: Prior
    mask: Tensor

    def to(self, device: torch.device) -> InputBatch:
        """Return the batch on a device."""
        prior = {name: values.to(device) for name, values in self.prior.items()}
        return InputBatch(self.vectors.to(device), self.features.to(device), prior, self.mask.to(device))


class SynthesizerLayer(nn.Module):
    """Attention `A . G(X)` and a feed-forward network, each with residual connection and layer norm."""

    def __init__(self, config: SynthesizerConfig) -> None:
        super().__init__()
        self.heads, self.value_size = config.heads, config.value_size
        self.attention = HEADS[config.head](config.for_head())
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

    def forward(self, states: Tensor, prior: Prior, mask: Tensor) -> Tensor:
        """Return `(batch, units, width)`; arguments as in `Head.forward`."""
        batch, units, _ = states.shape
        # (batch, heads, units, value_size)
        values = self.value(states).view(batch, units, self.heads, self.value_size).transpose(1, 2)
        mixed = self.attention.mix(states, values, prior, mask)
        update = self.output(mixed.transpose(1, 2).reshape(batch, units, -1))
        states = self.attention_norm(states + self.dropout(update))
        result: Tensor = self.feed_forward_norm(states + self.dropout(self.feed_forward(states)))
        return result


class Synthesizer(nn.Module):
    """Scores the units of documents from their vectors and prior matrices.

    Raises:
        InputError: An unknown head, or sizes or options that it cannot have.
    """

    def __init__(self, config: SynthesizerConfig) -> None:
        super().__init__()
        self.config = config
        self.features = nn.Linear(config.features, config.width) if config.features else None
        self.layers = nn.ModuleList(SynthesizerLayer(config) for _ in range(config.layers))
        self.dropout = nn.Dropout(config.dropout)
        self.scorer = nn.Sequential(
            nn.Linear(config.width, config.scorer), nn.ReLU(), nn.Dropout(config.dropout), nn.Linear(config.scorer, 1)
        )

    @property
    def device(self) -> torch.device:
        """Device of the weights."""
        return next(self.parameters()).device

    def forward(self, inputs: InputBatch, first: int = 0) -> Tensor:
        """Return logits `(batch, units)`; their sigmoid is the confidence of each unit.

        `first` is the position of the first unit in its document.

        Raises:
            InputError: More units than the head accepts.
        """
        states = inputs.vectors * math.sqrt(self.config.width) if self.config.scaled else inputs.vectors
        if self.features is not None:
            states = states + self.features(inputs.features)
        positions = sinusoids(first, states.shape[1], self.config.width, states.device)
        states, mask = self.dropout(states + positions.to(states.dtype)), inputs.mask.bool()
        for layer in self.layers:
            states = layer(states, inputs.prior, mask)
        logits: Tensor = self.scorer(states).squeeze(-1)
        return logits

    def parameter_count(self) -> ParameterCount:
        """Return the number of parameters, counted as in the paper's tables 2 and 3."""
        parts = [getattr(layer, name) for layer in self.layers for name in ("attention", "value", "output")]
        attention = sum(parameter.numel() for part in parts for parameter in part.parameters())
        return ParameterCount(attention, sum(parameter.numel() for parameter in self.parameters()))


def sinusoids(first: int, units: int, width: int, device: torch.device) -> Tensor:
    """Return `(units, width)` sinusoidal positions, counted from `first` (Vaswani et al. 2017, section 3.5)."""
    position = torch.arange(first, first + units, device=device, dtype=torch.float32)[:, None]
    rate = torch.exp(torch.arange(0, width, 2, device=device, dtype=torch.float32) * (-math.log(10_000.0) / width))
    table = torch.zeros(units, width, device=device)
    table[:, 0::2] = torch.sin(position * rate)
    table[:, 1::2] = torch.cos(position * rate[: width // 2])
    return table
