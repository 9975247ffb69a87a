"""Cross-entropy with label smoothing, and the figures beside it."""

from __future__ import annotations

from torch import Tensor

from discsum.abstractive.family import IGNORED


def smoothed_loss(log_probabilities: Tensor, labels: Tensor, vocabulary: int, share: float) -> dict[str, Tensor]:
    """Return means over the labels that are not `IGNORED`: the `loss`, the `cross_entropy` and the `accuracy`.

    `loss = (1 - share) cross_entropy + share u`, where u is the mean of `-log p` over the vocabulary. `accuracy` is the
    share of labels that have the highest probability.

    Args:
        log_probabilities: `(rows, steps, extended)`; smoothing is over the first `vocabulary` of them.
        labels: `(rows, steps)` of the extended vocabulary, or `IGNORED`.
        vocabulary: Size of the vocabulary, without words of the texts.
        share: Share that is spread.
    """
    counted = labels != IGNORED
    found = log_probabilities[counted]
    chosen = labels[counted]
    # (labels,)
    entropy = -found.gather(1, chosen[:, None]).squeeze(1)
    spread = -found[:, :vocabulary].mean(dim=1)
    return {
        "loss": ((1 - share) * entropy + share * spread).mean(),
        "cross_entropy": entropy.detach().mean(),
        "accuracy": (found.argmax(dim=1) == chosen).float().mean(),
    }
