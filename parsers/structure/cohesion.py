"""How the words of a span tie it together, and to what stands around it.

A word that comes again ties EDUs together (lexical cohesion: Halliday and Hasan 1976; TextTiling: Hearst 1997). An
encoder that reads a text in windows sees that within a window at best, and an EDU's pooled vector hardly keeps it,
so it is counted here, and with it which sentences and paragraphs a span cuts.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

WIDTH = 256
# EDUs after and before a span that it is compared with, beside all of them.
CONTEXTS = (1, 3, 12)
# EDUs on both sides of a span's first and last border that are compared with each other.
REACHES = (1, 2, 4, 12)
FEATURES = 1 + 2 * (len(CONTEXTS) + 1) + 2 * len(REACHES) + 3
# Similarities are small numbers.
SCALE = 5.0


def lexical_bags(ids: NDArray[np.int64], starts: NDArray[np.int64]) -> NDArray[np.float32]:
    """Return `(edus, WIDTH)` unit vectors whose products tell how many words two EDUs share.

    Each subword of an EDU counts by how few EDUs of the document have it (inverse document frequency) and in a random
    direction of its own, so that products are those of the bags themselves but for some 1/16 (Johnson and
    Lindenstrauss 1984), and their sums over spans are differences of running sums.

    Args:
        ids: `(subwords,)` vocabulary indices.
        starts: `(edus,)` first subword of each EDU; one without a subword of its own shares its successor's.
    """
    from scipy.sparse import csr_array

    edus = len(starts)
    sizes = np.maximum(np.append(starts[1:], len(ids)) - starts, 1)
    owner = np.repeat(np.arange(edus), sizes)
    index = np.arange(len(owner)) - np.repeat(sizes.cumsum() - sizes - starts, sizes)
    words, place = np.unique(ids[index], return_inverse=True)
    held, word = np.divmod(np.unique(owner * len(words) + place), max(1, len(words)))
    # A word of every EDU, as the only EDU's are, says little, but is better than nothing to make a vector of.
    weights = np.log(edus / np.bincount(word, minlength=len(words))) + 1e-3
    counts = csr_array((weights[word].astype(np.float32), (held, word)), shape=(edus, len(words)))
    bags: NDArray[np.float32] = counts @ _directions(words)
    return bags / np.maximum(np.linalg.norm(bags, axis=1, keepdims=True), 1e-9)


def _directions(words: NDArray[np.int64]) -> NDArray[np.float32]:
    """Return `(words, WIDTH)` of 1 and -1, for each word always the same: bits of a hash (splitmix64, Steele 2014)."""
    bits = words.astype("<u8")[:, None] * np.uint64(WIDTH // 64) + np.arange(1, WIDTH // 64 + 1, dtype="<u8")
    bits *= np.uint64(0x9E3779B97F4A7C15)
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        bits = (bits ^ (bits >> np.uint64(shift))) * np.uint64(factor)
    bits ^= bits >> np.uint64(31)
    return np.unpackbits(bits.astype("<u8").view(np.uint8), axis=1).astype(np.float32) * 2 - 1


@dataclass(frozen=True)
class Cohesion:
    """What rates spans as children by their words and layout; linear in the number of EDUs.

    Attributes:
        totals: `(edus + 1, WIDTH)` sums of the first EDUs' bags, in float64.
        cuts: `(edus + 1, 3)` how many of the first EDUs begin a sentence, a line and a paragraph.
        openings: `(edus + 1,)` as in `EDULayout`, and the text's end.
        children: What rates a span as a left and as a right child, from features and layout.
    """

    totals: Tensor
    cuts: Tensor
    openings: Tensor
    children: tuple[ChildScorer, ChildScorer]

    def left(self, firsts: Tensor, lasts: Tensor) -> Tensor:
        """Return `(firsts, lasts)`: scores of the EDUs from each first to each last one as a left child."""
        return self.children[0](self._features(firsts, lasts), self._layout(firsts, lasts))

    def right(self, firsts: Tensor, lasts: Tensor) -> Tensor:
        """Return `(firsts, lasts)`: the same as a right child."""
        return self.children[1](self._features(firsts, lasts), self._layout(firsts, lasts))

    @torch.no_grad()
    def _features(self, firsts: Tensor, lasts: Tensor) -> Tensor:
        """Return `(firsts, lasts, FEATURES)`: mean products of a span's EDUs with others, and how long it is."""
        edus = len(self.totals) - 1
        begins, ends = firsts, lasts + 1
        # Sums are taken from the first span's beginning on, where they are small enough for single precision.
        base = self.totals[begins.min()]

        def total(places: Tensor) -> Tensor:
            return (self.totals[places] - base).float()

        before, whole = total(begins), total(ends)
        sizes = (ends[None, :] - begins[:, None]).clamp_min(1)
        # A span's sum is `whole - before`; each EDU's product with itself is 1.
        squares = (whole * whole).sum(1)[None, :] + (before * before).sum(1)[:, None] - 2 * before @ whole.T
        features = [(squares - sizes) / (sizes * (sizes - 1)).clamp_min(1)]
        for context in (*CONTEXTS, edus):
            stop, start = (ends + context).clamp_max(edus), (begins - context).clamp_min(0)
            after, earlier = total(stop) - whole, before - total(start)
            counts = (stop - ends).clamp_min(1)[None, :], (begins - start).clamp_min(1)[:, None]
            features.append(((whole * after).sum(1)[None, :] - before @ after.T) / (sizes * counts[0]))
            features.append((earlier @ whole.T - (earlier * before).sum(1)[:, None]) / (sizes * counts[1]))
        for reach in REACHES:
            features.append(self._across(ends, reach)[None, :].expand_as(sizes))
            features.append(self._across(begins, reach)[:, None].expand_as(sizes))
        everything = self.totals[-1] - self.totals[0]
        mean = ((everything @ everything - edus) / max(1, edus * (edus - 1))).float()
        cut = self._cut(firsts, lasts)
        lengths = [torch.log(sizes) / SCALE, torch.log1p(cut[..., 0]), torch.log1p(cut[..., 1])]
        return torch.cat([(torch.stack(features, -1) - mean) * SCALE, torch.stack(lengths, -1)], -1)

    def _across(self, borders: Tensor, reach: int) -> Tensor:
        """Return `(borders,)`: the mean product of EDUs on both sides, `reach` of them or as many as there are."""
        stop, start = (borders + reach).clamp_max(len(self.totals) - 1), (borders - reach).clamp_min(0)
        after, before = self.totals[stop] - self.totals[borders], self.totals[borders] - self.totals[start]
        pairs = ((stop - borders) * (borders - start)).clamp_min(1)
        return ((after * before).sum(1) / pairs).float()

    def _cut(self, firsts: Tensor, lasts: Tensor) -> Tensor:
        """Return `(firsts, lasts, 3)`: how many sentences, lines and paragraphs begin inside a span, not with it."""
        return (self.cuts[lasts + 1][None] - self.cuts[firsts + 1][:, None]).clamp_min(0)

    def _layout(self, firsts: Tensor, lasts: Tensor) -> Tensor:
        """Return `(firsts, lasts)`: how a span opens, how what follows it does, and the strongest opening inside."""
        strongest = (self._cut(firsts, lasts) > 0).sum(-1)
        return self.openings[firsts][:, None] * 16 + self.openings[lasts + 1][None, :] * 4 + strongest


class ChildScorer(nn.Module):
    """Rates spans as children by features and layout; it begins at 0 for all."""

    def __init__(self, inner: int) -> None:
        """Build a scorer with `inner` hidden units."""
        super().__init__()
        self.hidden = nn.Linear(FEATURES, inner)
        self.output = nn.Linear(inner, 1)
        self.layout = nn.Embedding(64, 1)
        for parameter in (self.output.weight, self.output.bias, self.layout.weight):
            nn.init.zeros_(parameter)

    def forward(self, features: Tensor, layout: Tensor) -> Tensor:
        """Return a score for each of the last dimension of `features`."""
        scores: Tensor = self.output(torch.nn.functional.gelu(self.hidden(features))) + self.layout(layout)
        return scores.squeeze(-1)


class CohesionScorer(nn.Module):
    """Computes `Cohesion` from bags and layout."""

    def __init__(self, inner: int) -> None:
        """Build a scorer with `inner` hidden units for each side."""
        super().__init__()
        self.left = ChildScorer(inner)
        self.right = ChildScorer(inner)

    def forward(self, bags: Tensor, openings: Tensor) -> Cohesion:
        """Return what rates spans of a document with `bags` `(edus, WIDTH)` and `openings` `(edus,)`."""
        totals = torch.cat([bags.new_zeros(1, bags.shape[1]), bags]).double().cumsum(dim=0)
        begins = openings[:, None] >= torch.arange(1, 4, device=openings.device)
        cuts = torch.cat([begins.new_zeros(1, 3), begins]).long().cumsum(dim=0)
        return Cohesion(totals, cuts, torch.cat([openings, openings.new_tensor([3])]), (self.left, self.right))
