"""How the words of a span tie it together, and to what stands around it.

A word that comes again ties EDUs together (lexical cohesion: Halliday and Hasan 1976; TextTiling: Hearst 1997). An
encoder that reads a text in windows sees that within a window at best, and an EDU's pooled vector hardly keeps it,
so it is counted here, and with it which sentences and paragraphs a span cuts.
"""

from __future__ import annotations

from collections.abc import Sequence
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
# Products are small numbers.
SCALE = 5.0
# EDUs over which sums of bags are added up in single precision.
NEAR = 512


def lexical_bags(ids: NDArray[np.int64], starts: NDArray[np.int64]) -> NDArray[np.float32]:
    """Return `(edus, WIDTH)` unit vectors whose products tell how much of their words two EDUs share.

    Words are subwords here. Each of an EDU's counts by how few EDUs of the document have it (inverse document
    frequency) and in a random direction of its own, so that products are those of the bags themselves but for some
    1/16 (Johnson and Lindenstrauss 1984), and their sums over spans are differences of running sums.

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
    bags /= np.maximum(np.linalg.norm(bags, axis=1, keepdims=True), 1e-9)
    return bags


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

    The `FEATURES` of a span: the mean product of two of its EDUs; of one of them with one of those after it and
    one before it, for each of `CONTEXTS` and for all; of the EDUs on both sides of its last and of its first border,
    for each of `REACHES`; then how many EDUs it has and how many sentences and lines begin in it, as logarithms.
    Means are those beyond the document's own; what has no pairs, as before the first EDU, counts as sharing no word.

    Attributes:
        totals: `(edus + 1, WIDTH)` sums of the first EDUs' bags, in float64.
        across: `(edus + 1, len(REACHES))` mean product of the EDUs on both sides of each border.
        mean: `()` mean product of two EDUs of the document.
        cuts: `(edus + 1, 3)` how many of the first EDUs begin a sentence, a line and a paragraph.
        openings: `(edus + 1,)` as in `EDULayout`, and the text's end.
        children: What rates a span as a left and as a right child, from features and layout.
    """

    totals: Tensor
    across: Tensor
    mean: Tensor
    cuts: Tensor
    openings: Tensor
    children: tuple[ChildScorer, ChildScorer]

    def left(self, firsts: Tensor, lasts: Tensor) -> Tensor:
        """Return `(firsts, lasts)`: scores of the EDUs from each first to each last one as a left child."""
        return self._rated(firsts, lasts, self.children[:1])[0]

    def right(self, firsts: Tensor, lasts: Tensor) -> Tensor:
        """Return `(firsts, lasts)`: the same as a right child."""
        return self._rated(firsts, lasts, self.children[1:])[0]

    def both(self, firsts: Tensor, lasts: Tensor) -> tuple[Tensor, Tensor]:
        """Return what `left` and `right` do for the same spans, whose features are computed once."""
        left, right = self._rated(firsts, lasts, self.children)
        return left, right

    def _rated(self, firsts: Tensor, lasts: Tensor, children: Sequence[ChildScorer]) -> list[Tensor]:
        # What ends before it begins is no span: its score is 0.
        row, column = torch.nonzero(firsts[:, None] <= lasts[None, :], as_tuple=True)
        none = self.across.new_zeros(len(firsts), len(lasts))
        if not len(row):
            return [none for _ in children]
        first, last = firsts[row], lasts[column]
        # `(spans, 3)`: how many sentences, lines and paragraphs begin inside a span, not with it.
        cut = self.cuts.index_select(0, last + 1) - self.cuts.index_select(0, first + 1)
        # How a span opens, how what follows it does, and the strongest opening inside.
        layout = self.openings[first] * 16 + self.openings[last + 1] * 4 + (cut > 0).sum(-1)
        with torch.no_grad():
            means = self._means(firsts, lasts).flatten(0, 1).index_select(0, row * len(lasts) + column)
            borders = [self.across.index_select(0, border) for border in (last + 1, first)]
            ties = torch.cat([means, torch.stack(borders, -1).flatten(1)], -1)
            lengths = torch.log((last - first + 1)[:, None]) / 5, torch.log1p(cut[:, :2])
            features = torch.cat([(ties - self.mean) * SCALE, *lengths], -1)
        return [none.index_put((row, column), child(features, layout)) for child in children]

    def _means(self, firsts: Tensor, lasts: Tensor) -> Tensor:
        """Return the mean products inside spans and with what is around them, anything for what is no span.

        That is `(firsts, lasts, 1 + 2 * (len(CONTEXTS) + 1))`.
        """
        edus = len(self.totals) - 1
        # Where spans begin and what is before them, where they end and what is after: places in the running sums.
        begins = [firsts, *((firsts - context).clamp_min(0) for context in (*CONTEXTS, edus))]
        ends = [lasts + 1, *((lasts + 1 + context).clamp_max(edus) for context in (*CONTEXTS, edus))]
        rows, row_of = torch.cat(begins).unique(return_inverse=True)  # type: ignore[no-untyped-call]
        columns, column_of = torch.cat(ends).unique(return_inverse=True)  # type: ignore[no-untyped-call]
        # Counted from the first span; near it sums are small enough for single precision, which is twice as fast.
        left, right = (self.totals[places] - self.totals[firsts.min()] for places in (rows, columns))
        if int(lasts.max() - firsts.min()) <= NEAR:
            left, right = left.float(), right.float()
        products = left @ right.T
        begin_of, *before_of = row_of.split(len(firsts))
        end_of, *after_of = column_of.split(len(lasts))
        # A span's sum is `end - begin`. An EDU's product with itself is 1.
        begin, end = left[begin_of], right[end_of]
        by_begin = products[begin_of]
        begin_begin, end_end, begin_end = (begin * begin).sum(1)[:, None], (end * end).sum(1), by_begin[:, end_of]
        # As floats: whole numbers would be turned into them in every division.
        size = ((lasts + 1).to(left.dtype)[None, :] - firsts.to(left.dtype)[:, None]).clamp_min(1)
        means = [(end_end + begin_begin - 2 * begin_end - size) / (size * (size - 1)).clamp_min(1)]
        for start_of, stop_of in zip(before_of, after_of, strict=True):
            start, stop = left[start_of], right[stop_of]
            after = (end * stop).sum(1) - end_end - by_begin[:, stop_of] + begin_end
            before = begin_end - products[start_of][:, end_of] - begin_begin + (start * begin).sum(1)[:, None]
            later, earlier = columns[stop_of] - columns[end_of], rows[begin_of] - rows[start_of]
            means += [after / (size * later.clamp_min(1)), before / (size * earlier.clamp_min(1)[:, None])]
        return torch.stack(means, -1).float()


def _across(totals: Tensor) -> Tensor:
    """Return `(edus + 1, len(REACHES))`: what `Cohesion.across` is, from its totals."""
    borders = torch.arange(len(totals), device=totals.device)
    found = []
    for reach in REACHES:
        stop, start = (borders + reach).clamp_max(len(totals) - 1), (borders - reach).clamp_min(0)
        pairs = ((stop - borders) * (borders - start)).clamp_min(1)
        found.append(((totals[stop] - totals) * (totals - totals[start])).sum(1) / pairs)
    return torch.stack(found, -1).float()


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
        scores: Tensor = self.output(torch.relu(self.hidden(features))) + self.layout(layout)
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
        edus, whole = len(bags), totals[-1]
        mean = ((whole @ whole - edus) / max(1, edus * (edus - 1))).float()
        begins = openings[:, None] >= torch.arange(1, 4, device=openings.device)
        cuts = torch.cat([begins.new_zeros(1, 3), begins]).long().cumsum(dim=0)
        ends = torch.cat([openings, openings.new_tensor([3])])
        return Cohesion(totals, _across(totals), mean, cuts, ends, (self.left, self.right))
