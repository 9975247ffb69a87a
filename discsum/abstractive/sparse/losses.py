"""Auxiliary losses of sparse decoders (Manakul and Gales 2021, Eq 5 and 11)."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from discsum.abstractive.sparse.layout import SentenceLayout
from discsum.abstractive.sparse.state import Observation
from discsum.errors import InputError

TINY = 1e-12


def sparsity_loss(observations: Sequence[Observation], steps: Tensor) -> Tensor:
    """Return `L_sparse`: the mean entropy of attention over sentences, in nats (Eq 5).

    The entropy is computed for each head, then averaged over heads, steps and layers (appendix A.4).

    Args:
        observations: One per layer.
        steps: `(documents, queries)`, true for steps whose label is not padding.
    """
    entropies = [-(one.attention * one.attention.clamp_min(TINY).log()).sum(dim=-1) for one in observations]
    return _mean(entropies, steps)


def divergence_loss(
    observations: Sequence[Observation], layout: SentenceLayout, steps: Tensor, temperature: float = 1.0
) -> Tensor:
    """Return `L_KL`: divergence of the selectors from the attention they predict, in nats (Eq 11).

    The target is detached: its gradient would pull attention towards the prediction.

    Args:
        observations: One per layer, with predictions.
        layout: The documents' sentences.
        steps: As in `sparsity_loss`.
        temperature: The target is `alpha^(1/T)`, renormalised: sharper below 1, squared at 0.5.

    Raises:
        InputError: Layers without a selector.
    """
    terms = []
    for one in observations:
        if one.predicted is None:
            raise InputError(f"layer {one.layer}: expected a selector that predicts, got none; sparsify with one")
        target = sharpened(one.attention.detach(), temperature)
        # Padded sentences have neither a target nor a prediction.
        predicted = one.predicted.masked_fill(~layout.mask[:, None, None, :], 0.0)
        terms.append((target * (target.clamp_min(TINY).log() - predicted)).sum(dim=-1))
    return _mean(terms, steps)


def sharpened(attention: Tensor, temperature: float) -> Tensor:
    """Return `alpha^(1/T)`, renormalised over the last dimension."""
    raised = attention.clamp_min(TINY).pow(1.0 / temperature) * (attention > 0)
    return raised / raised.sum(dim=-1, keepdim=True).clamp_min(TINY)


def _mean(values: Sequence[Tensor], steps: Tensor) -> Tensor:
    """Return the mean of `(documents, heads, queries)` values of each layer over heads, layers and steps that count."""
    layers = torch.stack([value.mean(dim=1) for value in values]).mean(dim=0)
    return (layers * steps).sum() / steps.sum().clamp_min(1)
