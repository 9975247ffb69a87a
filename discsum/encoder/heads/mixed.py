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
    """Combines one head per name in `MixedOptions.mixture`, in that order; each reads its own options.

    Raises:
        InputError: The number of names in `mixture` is not `heads`, or one of them is `mixed`.
    """

    def __init__(self, config: HeadConfig) -> None:
        super().__init__(config)
        if problems := self.problems(config):
            raise InputError("; ".join(problems))
        self.mixture = config.read(MixedOptions).mixture
        self.parts = nn.ModuleList(HEADS[name](replace(config, heads=1)) for name in self.mixture)

    @staticmethod
    def problems(config: HeadConfig) -> list[str]:
        """Return the heads' own problems, or one if the number of names is not `heads` or one of them is `mixed`."""
        mixture = config.read(MixedOptions).mixture
        if len(mixture) == config.heads and "mixed" not in mixture:
            alone = replace(config, heads=1)
            return [problem for name in dict.fromkeys(mixture) for problem in HEADS[name].problems(alone)]
        got = ", ".join(mixture) or "none"
        return [f"mixture: expected names of single heads, as many as heads={config.heads}, got {got}"]

    @staticmethod
    def prior(units: UnitTree, config: HeadConfig) -> dict[str, NDArray[Any]]:
        """Return the arrays of each kind of head, with its name as prefix."""
        return {
            f"{name}.{key}": value
            for name in dict.fromkeys(config.read(MixedOptions).mixture)
            for key, value in HEADS[name].prior(units, config).items()
        }

    def forward(self, states: Tensor, prior: Prior, mask: Tensor) -> Tensor:
        """Return the attention of every head, `(batch, heads, units, units)`."""
        return torch.cat([part(states, own, mask) for part, own in self._with_priors(prior)], dim=1)

    def mix(self, states: Tensor, values: Tensor, prior: Prior, mask: Tensor) -> Tensor:
        """Return the output of each head on its own values."""
        parts = zip(self._with_priors(prior), values.chunk(self.config.heads, dim=1), strict=True)
        return torch.cat([part.mix(states, own_values, own, mask) for (part, own), own_values in parts], dim=1)

    def _with_priors(self, prior: Prior) -> list[tuple[Head, Prior]]:
        pairs: list[tuple[Head, Prior]] = []
        for name, part in zip(self.mixture, self.parts, strict=True):
            assert isinstance(part, Head)
            start = f"{name}."
            pairs.append((part, {key.removeprefix(start): prior[key] for key in prior if key.startswith(start)}))
        return pairs
