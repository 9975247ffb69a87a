"""Cross-entropy with label smoothing, and the figures beside it."""

from __future__ import annotations

from torch import Tensor

from discsum.abstractive.compressed.mixture import LabelScores


def smoothed_loss(scores: LabelScores, share: float) -> dict[str, Tensor]:
    """Return means over labels: the `loss`, the `cross_entropy` and the `accuracy`.

    `loss = (1 - share) cross_entropy + share u`, where u is the mean of `-log p` over the vocabulary. `accuracy` is the
    share of labels that have the highest probability.
    """
    entropy = -scores.label.mean()
    return {
        "loss": (1 - share) * entropy - share * scores.mean.mean(),
        "cross_entropy": entropy.detach(),
        "accuracy": scores.highest.float().mean(),
    }
