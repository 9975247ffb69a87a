"""Heads of several kinds side by side, some learned and some fixed (future work of Xiao et al. 2020)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from discsum.encoder.heads.base import Head, HeadConfig, Prior, UnitTree
from discsum.errors import InputError


class MixedHead(Head):
    """One head of each kind that `HeadConfig.mixture` names, in its order."""

    def __init__(self, config: HeadConfig) -> None:
        """Build the heads.

        Raises:
            InputError: A mixture of no head, of another number of heads than `heads`, or with a mixture in it.
        """
        from discsum.encoder.heads import make_head

        super().__init__(config)
        if len(config.mixture) != config.heads or "mixed" in config.mixture:
            got = ", ".join(config.mixture) or "none"
            raise InputError(f"expected heads={config.heads} names of single heads in mixture, got {got}")
        self.parts = nn.ModuleList(make_head(name, replace(config, heads=1, mixture=())) for name in config.mixture)

    @staticmethod
    def prior(units: UnitTree, config: HeadConfig) -> dict[str, NDArray[Any]]:
        """Return what each kind reads, under the kind's name."""
        from discsum.encoder.heads import head_type

        return {
            f"{name}.{key}": value
            for name in dict.fromkeys(config.mixture)
            for key, value in head_type(name).prior(units, config).items()
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
        for name, part in zip(self.config.mixture, self.parts, strict=True):
            assert isinstance(part, Head)
            start = f"{name}."
            pairs.append((part, {key.removeprefix(start): prior[key] for key in prior if key.startswith(start)}))
        return pairs
