"""Heads of several kinds in one layer, some learned and some fixed (future work of Xiao et al. 2020)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from discsum.encoder.heads import HEADS
from discsum.encoder.heads.base import Head, HeadConfig, Prior, UnitTree
from discsum.errors import InputError


@dataclass(frozen=True)
class MixedOptions:
    """Options of the mixed head: the names of its heads."""

    mixture: tuple[str, ...] = ()


@HEADS.register("mixed", options=MixedOptions)
class MixedHead(Head):
    """One head per name in `MixedOptions.mixture`, in that order; each reads its own options.

    Raises:
        InputError: `mixture` is empty, has another number of names than `heads`, or contains a mixture.
    """

    def __init__(self, config: HeadConfig) -> None:
        super().__init__(config)
        if problems := self.problems(config):
            raise InputError("; ".join(problems))
        self.mixture = config.read(MixedOptions).mixture
        self.parts = nn.ModuleList(HEADS[name](replace(config, heads=1)) for name in self.mixture)

    @staticmethod
    def problems(config: HeadConfig) -> list[str]:
        """Return whether the mixture has another number of names than `heads`, or contains a mixture."""
        mixture = config.read(MixedOptions).mixture
        if len(mixture) == config.heads and "mixed" not in mixture:
            return []
        got = ", ".join(mixture) or "none"
        return [f"mixture: expected names of single heads, as many as heads={config.heads}, got {got}"]

    @staticmethod
    def prior(units: UnitTree, config: HeadConfig) -> dict[str, NDArray[Any]]:
        """Return the arrays of each kind, prefixed with its name."""
        return {
            f"{name}.{key}": value
            for name in dict.fromkeys(config.read(MixedOptions).mixture)
            for key, value in HEADS[name].prior(units, config).items()
        }

    def forward(self, states: Tensor, prior: Prior, mask: Tensor) -> Tensor:
        """Return the attention of every head."""
        return torch.cat([part(states, own, mask) for part, own in self._with_priors(prior)], dim=1)

    def mix(self, states: Tensor, values: Tensor, prior: Prior, mask: Tensor) -> Tensor:
        """Return each head's own mix of its values."""
        parts = zip(self._with_priors(prior), values.chunk(self.config.heads, dim=1), strict=True)
        return torch.cat([part.mix(states, own_values, own, mask) for (part, own), own_values in parts], dim=1)

    def _with_priors(self, prior: Prior) -> list[tuple[Head, Prior]]:
        pairs: list[tuple[Head, Prior]] = []
        for name, part in zip(self.mixture, self.parts, strict=True):
            assert isinstance(part, Head)
            start = f"{name}."
            pairs.append((part, {key.removeprefix(start): prior[key] for key in prior if key.startswith(start)}))
        return pairs
