"""Cross-entropy with label smoothing, and accuracy."""

from __future__ import annotations

from torch import Tensor

from discsum.abstractive.compressed.mixture import LabelScores


def smoothed_loss(scores: LabelScores, share: float) -> dict[str, Tensor]:
    """Return means over labels: the `loss` and the `cross_entropy` in nats, and the `accuracy`.

    `loss = (1 - share) cross_entropy + share u`, where u is the mean of `-log p` over the vocabulary. `accuracy` is the
    share of labels that have the highest probability. Label smoothing is that of Szegedy et al. 2016, section 7.
    """
    entropy = -scores.label.mean()
    return {
        "loss": (1 - share) * entropy - share * scores.mean.mean(),
        "cross_entropy": entropy.detach(),
        "accuracy": scores.highest.float().mean(),
    }
