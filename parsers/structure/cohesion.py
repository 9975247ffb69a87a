"""Scores of spans by lexical cohesion, within the span and with its context, and by layout.

Repeated words link EDUs (lexical cohesion: Halliday and Hasan 1976; TextTiling: Hearst 1997). An encoder sees
repetition within a window at best, and pooled EDU vectors lose most of it, so it is computed here, together with the
sentences, lines and paragraphs that begin inside a span.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from discsum.parsers.running_sums import PIECE, RunningSums

WIDTH = 256
# Numbers of EDUs before and after a span that it is compared with, in addition to all of them.
CONTEXTS = (1, 3, 12)
# Numbers of EDUs on both sides of a span's first and last border that are compared with each other.
REACHES = (1, 2, 4, 12)
FEATURES = 1 + 2 * (len(CONTEXTS) + 1) + 2 * len(REACHES) + 3
# Factor of mean products, which are small.
SCALE = 5.0
# EDUs up to which sums of bags are multiplied in single precision.
NEAR = 512


def lexical_bags(ids: NDArray[np.int64], starts: NDArray[np.int64]) -> NDArray[np.float32]:
    """Return `(edus, WIDTH)` unit vectors whose products measure the overlap of two EDUs' words.

    Words are subwords here, weighted by inverse document frequency over the EDUs. Each word has a random direction, so
    that products approximate those of the bags of words with an error of about 1/16 (Johnson and Lindenstrauss 1984).

    Args:
        ids: `(subwords,)` vocabulary indices.
        starts: `(edus,)` first subword of each EDU; an EDU that has none shares the next EDU's.
    """
    edus = len(starts)
    sizes = np.maximum(np.append(starts[1:], len(ids)) - starts, 1)
    owner = np.repeat(np.arange(edus), sizes)
    index = np.arange(len(owner)) - np.repeat(sizes.cumsum() - sizes - starts, sizes)
    words, place = np.unique(ids[index], return_inverse=True)
    held, word = np.divmod(np.unique(owner * len(words) + place), max(1, len(words)))
    # The constant keeps words that all EDUs have, so that no EDU's vector is zero.
    weights = torch.from_numpy(np.log(edus / np.bincount(word, minlength=len(words))) + 1e-3).float()
    rows, directions = torch.from_numpy(word), torch.from_numpy(_directions(words))
    bags = np.empty((edus, WIDTH), dtype=np.float32)
    # Some EDUs at a time, which bounds memory.
    for first in range(0, edus, PIECE):
        bounds = np.searchsorted(held, np.arange(first, min(first + PIECE, edus) + 1))
        own = rows[bounds[0] : bounds[-1]]
        firsts = torch.from_numpy(bounds[:-1] - bounds[0])
        # A product with a sparse matrix, without the time to import SciPy's.
        summed = nn.functional.embedding_bag(own, directions, firsts, mode="sum", per_sample_weights=weights[own])
        some: NDArray[np.float32] = summed.numpy()
        some /= np.maximum(np.linalg.norm(some, axis=1, keepdims=True), 1e-9)
        bags[first : first + len(some)] = some
    return bags


def _directions(words: NDArray[np.int64]) -> NDArray[np.float32]:
    """Return `(words, WIDTH)` of 1 and -1, the bits of a hash of each word (splitmix64, Steele et al. 2014)."""
    bits = words.astype("<u8")[:, None] * np.uint64(WIDTH // 64) + np.arange(1, WIDTH // 64 + 1, dtype="<u8")
    bits *= np.uint64(0x9E3779B97F4A7C15)
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        bits = (bits ^ (bits >> np.uint64(shift))) * np.uint64(factor)
    bits ^= bits >> np.uint64(31)
    return np.unpackbits(bits.astype("<u8").view(np.uint8), axis=1).astype(np.float32) * 2 - 1


@dataclass(frozen=True)
class Cohesion:
    """Scores of spans as children by their words and layout; memory is linear in the number of EDUs.

    The `FEATURES` of a span are mean products of EDU pairs: within the span; of the span with the EDUs after and before
    it, for each of `CONTEXTS` and for all; across its last and its first border, for each of `REACHES`. Then follow the
    logarithms of the numbers of EDUs in it and of sentences and lines that begin inside it. The document's mean product
    is subtracted from the means; a mean over no pairs counts as 0.

    Attributes:
        totals: `(edus + 1, WIDTH)` running sums of the EDUs' bags.
        across: `(edus + 1, len(REACHES))` mean product of the EDUs on both sides of each border.
        mean: `()` mean product of two EDUs of the document.
        cuts: `(edus + 1, 3)` running counts of EDUs that begin a sentence, a line and a paragraph.
        openings: `(edus + 1,)` as in `EDULayout`.
        children: Scorers of a span as a left and as a right child.
    """

    totals: RunningSums
    across: Tensor
    mean: Tensor
    cuts: Tensor
    openings: Tensor
    children: tuple[ChildScorer, ChildScorer]

    def left(self, firsts: Tensor, lasts: Tensor) -> Tensor:
        """Return `(firsts, lasts)`: scores of the EDUs from each first to each last one as a left child."""
        return self._scores(firsts, lasts, self.children[:1])[0]

    def right(self, firsts: Tensor, lasts: Tensor) -> Tensor:
        """Return `(firsts, lasts)`: the same as a right child."""
        return self._scores(firsts, lasts, self.children[1:])[0]

    def both(self, firsts: Tensor, lasts: Tensor) -> tuple[Tensor, Tensor]:
        """Return `left` and `right` of the same spans, whose features are computed once."""
        left, right = self._scores(firsts, lasts, self.children)
        return left, right

    def _scores(self, firsts: Tensor, lasts: Tensor, children: Sequence[ChildScorer]) -> list[Tensor]:
        # Only pairs with `first <= last` are spans; others get score 0.
        row, column = torch.nonzero(firsts[:, None] <= lasts[None, :], as_tuple=True)
        none = self.across.new_zeros(len(firsts), len(lasts))
        if not len(row):
            return [none for _ in children]
        first, last = firsts[row], lasts[column]
        # `(spans, 3)`: sentences, lines and paragraphs that begin inside a span, after its first EDU.
        cut = self.cuts.index_select(0, last + 1) - self.cuts.index_select(0, first + 1)
        # The openings of a span and of its successor, and the strongest opening inside.
        layout = self.openings[first] * 16 + self.openings[last + 1] * 4 + (cut > 0).sum(-1)
        with torch.no_grad():
            means = self._means(firsts, lasts).flatten(0, 1).index_select(0, row * len(lasts) + column)
            borders = [self.across.index_select(0, border) for border in (last + 1, first)]
            ties = torch.cat([means, torch.stack(borders, -1).flatten(1)], -1)
            lengths = torch.log((last - first + 1)[:, None]) / 5, torch.log1p(cut[:, :2])
            features = torch.cat([(ties - self.mean) * SCALE, *lengths], -1)
        return [none.index_put((row, column), child(features, layout)) for child in children]

    def _means(self, firsts: Tensor, lasts: Tensor) -> Tensor:
        """Return `(firsts, lasts, 1 + 2 * (len(CONTEXTS) + 1))` mean products inside spans and with their context.

        Values of pairs that are not spans are undefined.
        """
        edus = len(self.totals) - 1
        # Indices into the running sums: starts of spans and of the contexts before, ends of spans and contexts after.
        begins = [firsts, *((firsts - context).clamp_min(0) for context in (*CONTEXTS, edus))]
        ends = [lasts + 1, *((lasts + 1 + context).clamp_max(edus) for context in (*CONTEXTS, edus))]
        rows, row_of = torch.cat(begins).unique(return_inverse=True)  # type: ignore[no-untyped-call]
        columns, column_of = torch.cat(ends).unique(return_inverse=True)  # type: ignore[no-untyped-call]
        # Relative to the first span: sums over a few EDUs are small enough for single precision, twice as fast.
        left, right = (self.totals[index] - self.totals[firsts.min()[None]] for index in (rows, columns))
        if int(lasts.max() - firsts.min()) <= NEAR:
            left, right = left.float(), right.float()
        products = left @ right.T
        begin_of, *before_of = row_of.split(len(firsts))
        end_of, *after_of = column_of.split(len(lasts))
        # A span's sum is `end - begin`. An EDU's product with itself is 1.
        begin, end = left[begin_of], right[end_of]
        by_begin = products[begin_of]
        begin_begin, end_end, begin_end = (begin * begin).sum(1)[:, None], (end * end).sum(1), by_begin[:, end_of]
        # As floats, which saves a conversion in every division.
        size = ((lasts + 1).to(left.dtype)[None, :] - firsts.to(left.dtype)[:, None]).clamp_min(1)
        means = [(end_end + begin_begin - 2 * begin_end - size) / (size * (size - 1)).clamp_min(1)]
        for start_of, stop_of in zip(before_of, after_of, strict=True):
            start, stop = left[start_of], right[stop_of]
            after = (end * stop).sum(1) - end_end - by_begin[:, stop_of] + begin_end
            before = begin_end - products[start_of][:, end_of] - begin_begin + (start * begin).sum(1)[:, None]
            later, earlier = columns[stop_of] - columns[end_of], rows[begin_of] - rows[start_of]
            means += [after / (size * later.clamp_min(1)), before / (size * earlier.clamp_min(1)[:, None])]
        return torch.stack(means, -1).float()


def _across(totals: RunningSums) -> Tensor:
    """Return `Cohesion.across`, `(edus + 1, len(REACHES))`, from `Cohesion.totals`."""
    pieces, edus, most = [], len(totals) - 1, max(REACHES)
    for first in range(0, edus + 1, PIECE):
        after = min(first + PIECE, edus + 1)
        low = max(0, first - most)
        sums = totals[torch.arange(low, min(after + most, edus + 1), device=totals.whole.device)]
        borders, found = torch.arange(first, after, device=sums.device), []
        here = sums[borders - low]
        for reach in REACHES:
            stop, start = (borders + reach).clamp_max(edus), (borders - reach).clamp_min(0)
            pairs = ((stop - borders) * (borders - start)).clamp_min(1)
            found.append(((sums[stop - low] - here) * (here - sums[start - low])).sum(1) / pairs)
        pieces.append(torch.stack(found, -1).float())
    return torch.cat(pieces)


class ChildScorer(nn.Module):
    """Scores spans as children by features and layout; initially all scores are 0."""

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
        """Return the cohesion of a document with `bags` `(edus, WIDTH)` and `openings` `(edus + 1,)`."""
        totals, edus = RunningSums(bags), len(bags)
        mean = ((totals.whole @ totals.whole - edus) / max(1, edus * (edus - 1))).float()
        begins = openings[:-1, None] >= torch.arange(1, 4, device=openings.device)
        cuts = torch.cat([begins.new_zeros(1, 3), begins]).long().cumsum(dim=0)
        return Cohesion(totals, _across(totals), mean, cuts, openings, (self.left, self.right))
