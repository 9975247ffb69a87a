"""Mixture of two distributions over the next word: one over the vocabulary, one over the words of the text.

After See et al. 2017 (equation 9) and OpenNMT's copy generator, which Yap et al. use.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor, nn

from discsum.abstractive.family import IGNORED


class LabelScores(NamedTuple):
    """Scores of each label that a loss needs, each `(labels,)`; log probabilities are in nats.

    Attributes:
        label: Log probability of the label.
        mean: Mean log probability over the vocabulary, without words that only the texts have.
        highest: Whether no other word has a higher probability.
    """

    label: Tensor
    mean: Tensor
    highest: Tensor


@dataclass(frozen=True)
class Mixture:
    """Probabilities of the next word: `(1 - gate) softmax(logits) + gate copied`, over the extended vocabulary.

    The extended vocabulary is the vocabulary followed by words of the texts that it lacks.

    Attributes:
        logits: `(rows, steps, vocabulary)`.
        attention: `(rows, steps, tokens)` probability that each token of the text is the copied one.
        gate: `(rows, steps, 1)` probability of copying.
        source_ids: `(rows, tokens)` ids of the text in the extended vocabulary.
    """

    logits: Tensor
    attention: Tensor
    gate: Tensor
    source_ids: Tensor

    def log_probabilities(self) -> Tensor:
        """Return log probabilities `(rows, steps, extended)`, in nats."""
        probabilities = torch.softmax(self.logits.float(), dim=-1) * (1 - self.gate)
        beyond = max(0, int(self.source_ids.max()) + 1 - self.logits.shape[-1])
        probabilities = nn.functional.pad(probabilities, (0, beyond))
        places = self.source_ids[:, None].expand(-1, self.attention.shape[1], -1)
        return _log(probabilities.scatter_add(-1, places, self.gate * self.attention))

    def scores_of(self, labels: Tensor) -> LabelScores:
        """Return the scores of those labels `(rows, steps)` of the extended vocabulary that are not `IGNORED`.

        All words except those of the text have the probability `(1 - gate) softmax(logits)`. So no tensor over the
        extended vocabulary is made, and only one over the vocabulary is kept for the gradient; others are `(rows,
        tokens, tokens)` and `(labels, tokens)`. A label that is neither in the vocabulary nor in its text has the
        lowest probability.
        """
        # In half precision, products of small probabilities would have no gradient.
        with torch.autocast(self.logits.device.type, enabled=False):
            return self._scores_of(labels)

    def _scores_of(self, labels: Tensor) -> LabelScores:
        counted = labels != IGNORED
        row, size = counted.nonzero()[:, 0], self.logits.shape[-1]
        # (labels, vocabulary), before the gate.
        own = torch.log_softmax(self.logits[counted].float(), dim=-1)
        gate = self.gate[counted]
        kept, lowest = _log(1 - gate), torch.finfo(own.dtype).min
        # (labels, tokens), and (labels, 1)
        source, wanted = self.source_ids[row], labels[counted][:, None]
        # A word that is twice in the text is copied with the sum of both weights, but counts once in the vocabulary.
        same = (self.source_ids[:, :, None] == self.source_ids[:, None, :]).to(self.attention.dtype)
        copied = gate * (self.attention @ same)[counted]
        is_label = source == wanted
        label_copied = gate * (self.attention[counted] * is_label).sum(dim=1, keepdim=True)

        def alone(ids: Tensor) -> Tensor:
            found = own.gather(1, ids.clamp(max=size - 1)) + kept
            return found.masked_fill(ids >= size, lowest)

        uncopied = alone(source)
        words = torch.logaddexp(uncopied, _log(copied))
        label = torch.logaddexp(alone(wanted), _log(label_copied))
        gains = ((words - uncopied) / same.sum(dim=-1)[row]).masked_fill(source >= size, 0.0)
        mean = own.mean(dim=1) + kept.squeeze(1) + gains.sum(dim=1) / size
        others = words.masked_fill(is_label, lowest).amax(dim=1, keepdim=True)
        highest = torch.maximum(own.amax(dim=1, keepdim=True) + kept, others)
        return LabelScores(label.squeeze(1), mean, (label >= highest).squeeze(1))


def _log(probabilities: Tensor) -> Tensor:
    """Return logarithms of clamped values: 0, as for a word of another text, would have no finite gradient."""
    return probabilities.clamp_min(torch.finfo(probabilities.dtype).tiny).log()


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
