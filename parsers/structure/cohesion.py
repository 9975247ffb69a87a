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
# Numbers of EDUs before and after a span that it is compared with, in addition to all EDUs.
CONTEXTS = (1, 3, 12)
# Numbers of EDUs on both sides of a span's first and last border that are compared with each other.
REACHES = (1, 2, 4, 12)
FEATURES = 1 + 2 * (len(CONTEXTS) + 1) + 2 * len(REACHES) + 3
# Mean products are small, so they are scaled by this factor.
SCALE = 5.0
# Spans whose features are computed at once on a CPU.
CELLS = 8192
# Extent of a chart, in EDUs, up to which sums of bags are multiplied in float32.
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
        # A sparse matrix product, without SciPy, which takes time to import.
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

    EDUs of all documents are numbered consecutively. Methods take indices as tensors on the CPU, to avoid waiting for a
    GPU.

    Attributes:
        totals: `(edus + 1, WIDTH)` running sums of the EDUs' bags.
        across: `(edus + documents, len(REACHES))` mean product of the EDUs on both sides of each border. A document has
            one more border than EDUs.
        mean: `(documents,)` mean product of two EDUs of each document.
        cuts: `(3, edus + 1)` running counts of EDUs that begin a sentence, a line and a paragraph.
        openings: `(edus,)` as in `EDULayout`.
        closings: `(edus,)` likewise.
        bounds: `(documents + 1,)` first EDU of each document, and their number; on the CPU.
        children: Scorers of a span as a left and as a right child.
    """

    totals: RunningSums
    across: Tensor
    mean: Tensor
    cuts: Tensor
    openings: Tensor
    closings: Tensor
    bounds: Tensor
    children: tuple[ChildScorer, ChildScorer]

    def left(self, firsts: Tensor, lasts: Tensor) -> Tensor:
        """Return `(firsts, lasts)`: scores of the EDUs from each first to each last one as a left child."""
        return self._scores(firsts[None], lasts[None], self.children[:1])[0][0]

    def right(self, firsts: Tensor, lasts: Tensor) -> Tensor:
        """Return `(firsts, lasts)`: the same as a right child."""
        return self._scores(firsts[None], lasts[None], self.children[1:])[0][0]

    def both(self, firsts: Tensor, lasts: Tensor) -> tuple[Tensor, Tensor]:
        """Return `(charts, blocks, blocks)` twice: `left` and `right` of several charts, from the same features.

        Args:
            firsts: `(charts, blocks)` first EDU of each block, in order; a chart is in one document.
            lasts: `(charts, blocks)` last EDU of each block.
        """
        left, right = self._scores(firsts, lasts, self.children, triangular=True)
        return left, right

    def _scores(
        self, firsts: Tensor, lasts: Tensor, children: Sequence[ChildScorer], triangular: bool = False
    ) -> list[Tensor]:
        """Return `(charts, firsts, lasts)` for each child; pairs with `first > last` are not spans and get score 0.

        With `triangular`, pairs below the diagonal are never spans and are skipped.
        """
        charts, rows, columns = len(firsts), firsts.shape[1], lasts.shape[1]
        found = [self.across.new_zeros(charts, rows, columns) for _ in children]
        if not found[0].numel():
            return found
        # On a CPU some rows at a time, so that their features fit its cache.
        most = max(1, CELLS // (charts * columns)) if self.across.device.type == "cpu" else rows
        with torch.no_grad():
            asked = self._asked(firsts, lasts)
        for row in range(0, rows, most):
            some, after = slice(row, row + most), slice(row if triangular else 0, None)
            with torch.no_grad():
                features, layout, is_span = self._features(asked.part(some, after))
            for scores, child in zip(found, children, strict=True):
                values = child(features.flatten(2), layout.flatten(1)).view(is_span.shape)
                scores[:, some, after] = torch.where(is_span, values, 0.0)
        return found

    def _asked(self, firsts: Tensor, lasts: Tensor) -> _Asked:
        """Return the places and sums from which the features of spans are computed; see `_scores`."""
        document = torch.searchsorted(self.bounds, firsts[:, :1].contiguous(), right=True) - 1
        low, high = self.bounds[document], self.bounds[document + 1]
        near = int((lasts.amax(1) - firsts.amin(1)).max()) <= NEAR
        begins = [firsts, *(torch.maximum(firsts - some, low) for some in CONTEXTS), low.expand_as(firsts)]
        ends = [lasts + 1, *(torch.minimum(lasts + 1 + some, high) for some in CONTEXTS), high.expand_as(lasts)]
        places = torch.stack(begins, 1), torch.stack(ends, 1), firsts.amin(1)[:, None, None], document
        starts, stops, origin, document = _moved(self.across.device, *places)
        # Relative to the chart's first EDU: sums over a few EDUs are small enough for float32, which is twice as fast.
        left, right = (self.totals[some] - self.totals[origin] for some in (starts, stops))
        if near:
            left, right = left.float(), right.float()
        return _Asked(document, starts, stops, left, right)

    def _features(self, asked: _Asked) -> tuple[Tensor, Tensor, Tensor]:
        """Return features `(charts, FEATURES, firsts, lasts)`, layout and mask of spans `(charts, firsts, lasts)`."""
        document, firsts, ends = asked.document, asked.starts[:, 0], asked.stops[:, 0]
        # (kinds, charts, firsts, lasts): sentences, lines and paragraphs that begin in a span after its first EDU.
        cuts = self.cuts[:, ends][:, :, None, :] - self.cuts[:, firsts + 1][:, :, :, None]
        # The openings of a span and of its successor, and the strongest opening inside.
        layout = self.openings[firsts][:, :, None] * 16 + self.closings[ends - 1][:, None, :] * 4 + (cuts > 0).sum(0)
        size = ends[:, None, None, :] - firsts[:, None, :, None]
        # For each reach, the border after the span and that before it.
        after = self.across[ends + document].mT[:, :, None, None, :].expand(-1, -1, -1, *size.shape[2:])
        before = self.across[firsts + document].mT[:, :, None, :, None].expand(-1, -1, -1, *size.shape[2:])
        ties = torch.cat([asked.means(), torch.cat([after, before], 2).flatten(1, 2)], 1)
        ties.sub_(self.mean[document][..., None, None]).mul_(SCALE)
        counts = torch.log1p(cuts[:2].clamp_min(0).transpose(0, 1))
        return torch.cat([ties, torch.log(size.clamp_min(1)) / 5, counts], 1), layout, size[:, 0] > 0


@dataclass(frozen=True)
class _Asked:
    """Spans of several charts, from each first EDU to each last one, with the sums of bags at their ends.

    Attributes:
        document: `(charts, 1)` the document of each chart.
        starts: `(charts, 1 + contexts, firsts)` where spans begin, and their contexts before.
        stops: `(charts, 1 + contexts, lasts)` where they end, and their contexts after.
        left: `(charts, 1 + contexts, firsts, WIDTH)` sums of the bags before `starts`, relative to the chart's first.
        right: `(charts, 1 + contexts, lasts, WIDTH)` the same before `stops`.
    """

    document: Tensor
    starts: Tensor
    stops: Tensor
    left: Tensor
    right: Tensor

    def part(self, rows: slice, columns: slice) -> _Asked:
        """Return the spans of some firsts and lasts."""
        starts, stops = self.starts[:, :, rows], self.stops[:, :, columns]
        return _Asked(self.document, starts, stops, self.left[:, :, rows], self.right[:, :, columns])

    def means(self) -> Tensor:
        """Return `(charts, 1 + 2 * contexts, firsts, lasts)`: mean products inside spans, and with their contexts."""
        begin, end = self.left[:, 0], self.right[:, 0]
        # (charts, contexts, firsts or lasts, WIDTH): sums of the contexts.
        earlier, later = self.left[:, :1] - self.left[:, 1:], self.right[:, 1:] - self.right[:, :1]
        # A span's sum is `end - begin`, so its product with a context's sum is a difference of two products.
        after = (later * end[:, None]).sum(-1)[:, :, None] - begin[:, None] @ later.mT
        before = earlier @ end[:, None].mT - (earlier * begin[:, None]).sum(-1)[..., None]
        # As floats, which saves a conversion in every division. An EDU's product with itself is 1.
        starts, stops = self.starts.to(begin.dtype), self.stops.to(begin.dtype)
        size = (stops[:, 0, None, :] - starts[:, 0, :, None]).clamp_min(1)
        own = end.square().sum(-1)[:, None, :] + begin.square().sum(-1)[:, :, None] - 2 * begin @ end.mT - size
        own = own / (size * (size - 1)).clamp_min(1)
        after = after / size[:, None] / (stops[:, 1:] - stops[:, :1]).clamp_min(1)[:, :, None, :]
        before = before / size[:, None] / (starts[:, :1] - starts[:, 1:]).clamp_min(1)[..., None]
        return torch.cat([own[:, None], torch.stack([after, before], 2).flatten(1, 2)], 1).float()


def _moved(device: torch.device, *parts: Tensor) -> list[Tensor]:
    return [part.to(device, non_blocking=True) for part in parts]


def _across(bags: Tensor, bounds: Tensor) -> Tensor:
    """Return `Cohesion.across` from the EDUs' `bags` `(edus, WIDTH)` and the documents' `bounds`, as in `Cohesion`."""
    most, counts, documents = max(REACHES), bounds.diff(), torch.arange(len(bounds) - 1)
    # Rows of EDUs, with rows of zeros before, between and after documents: the EDU of each row, and each border's row.
    edu = torch.full((len(bags) + most * len(bounds),), -1)
    edu[torch.arange(len(bags)) + most * (documents.repeat_interleave(counts) + 1)] = torch.arange(len(bags))
    document = documents.repeat_interleave(counts + 1)
    borders = torch.arange(len(document)) - document + most * (document + 1)
    # Numbers of EDUs on both sides of each border, within the document.
    before = torch.arange(len(document)) - document - bounds[document]
    after = counts[document] - before
    pieces = []
    for some in torch.split(torch.arange(len(borders)), PIECE):
        low = int(borders[some[0]]) - most
        own = edu[low : int(borders[some[-1]]) + most]
        index, inside, here = _moved(bags.device, own.clamp_min(0), (own >= 0)[:, None], borders[some] - low)
        sums, size, found = bags[index] * inside, 1, []
        for reach in REACHES:
            # Sums of `reach` rows from each row on, computed from sums of fewer rows.
            fewer, rows = sums, len(sums) - reach + size
            sums = fewer[:rows].clone()
            for start in range(size, reach, size):
                sums += fewer[start : start + rows]
            size = reach
            pairs = before[some].clamp_max(reach) * after[some].clamp_max(reach)
            products = (sums[here] * sums[here - reach]).sum(-1)
            found.append(products / pairs.clamp_min(1).to(bags.device, non_blocking=True))
        pieces.append(torch.stack(found, -1))
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
        """Return scores `(charts, spans)` from features `(charts, FEATURES, spans)` and layout `(charts, spans)`."""
        weight, bias = self.hidden.weight.expand(len(features), -1, -1), self.hidden.bias[:, None]
        # (charts, inner, spans)
        hidden = torch.baddbmm(bias, weight, features).relu_()
        scores: Tensor = (self.output.weight @ hidden)[:, 0] + self.output.bias
        scores = scores + self.layout(layout)[..., 0]
        return scores


class CohesionScorer(nn.Module):
    """Computes `Cohesion` from bags and layout."""

    def __init__(self, inner: int) -> None:
        """Build a scorer with `inner` hidden units for each side."""
        super().__init__()
        self.left = ChildScorer(inner)
        self.right = ChildScorer(inner)

    def forward(self, bags: Tensor, openings: Tensor, closings: Tensor, counts: Sequence[int]) -> Cohesion:
        """Return the cohesion of several documents, concatenated.

        Args:
            bags: `(edus, WIDTH)`.
            openings: `(edus,)` as in `EDULayout`.
            closings: `(edus,)` likewise.
            counts: Number of EDUs of each document.
        """
        device, bounds = bags.device, torch.tensor([0, *counts]).cumsum(0)
        first, after, edus = _moved(device, bounds[:-1], bounds[1:], bounds.diff())
        totals, edus = RunningSums(bags), edus.double()
        # (documents, WIDTH)
        whole = totals[after] - totals[first]
        mean = ((whole.square().sum(1) - edus) / (edus * (edus - 1)).clamp_min(1)).float()
        begins = openings[:, None] >= torch.arange(1, 4, device=device)
        cuts = torch.cat([begins.new_zeros(1, 3), begins]).T.cumsum(dim=1, dtype=torch.float32)
        across = _across(bags, bounds)
        return Cohesion(totals, across, mean, cuts, openings, closings, bounds, (self.left, self.right))
