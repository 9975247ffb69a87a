"""What sparse decoders are trained by beside the cross-entropy (Manakul and Gales 2021, Eq 5 and 11)."""

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

    It is taken of every head by itself, then averaged over heads, steps and layers (appendix A.4).

    Args:
        observations: What each layer did.
        steps: `(documents, queries)`, true for the steps that count: those whose label is no padding.
    """
    entropies = [-(one.attention * one.attention.clamp_min(TINY).log()).sum(dim=-1) for one in observations]
    return _mean(entropies, steps)


def divergence_loss(
    observations: Sequence[Observation], layout: SentenceLayout, steps: Tensor, temperature: float = 1.0
) -> Tensor:
    """Return `L_KL`: how far selectors are from the attention that they are to predict, in nats (Eq 11).

    The target is no function of the parameters here: its gradient would draw attention to what is predicted.

    Args:
        observations: What each layer did, with selectors.
        layout: The documents' sentences.
        steps: As in `sparsity_loss`.
        temperature: Of the target, `alpha^(1/T)` renormalised; below 1 it is sharper, at .5 it is squared.

    Raises:
        InputError: Layers without a selector.
    """
    terms = []
    for one in observations:
        if one.predicted is None:
            raise InputError(f"layer {one.layer}: expected a selector that predicts, got none; sparsify with one")
        target = sharpened(one.attention.detach(), temperature)
        # Sentences that are not there have neither a target nor a prediction.
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
