"""What is found in a text and kept of its subword vectors, which take too much memory to be kept themselves."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from discsum.constants import UNITS
from discsum.document import Span
from discsum.layout import Layout
from discsum.parsers import segmenter
from discsum.parsers.edu_vectors import OPENS_PARAGRAPH, EDULayout, opening_kinds
from discsum.parsers.encoder import WindowEncoder
from discsum.parsers.gathered import Gathered
from discsum.parsers.network import ParserNetwork
from discsum.parsers.segmenter import boundary_probabilities, starts_from
from discsum.parsers.subwords import Subwords, first_subwords
from discsum.parsers.units import Units

# What can be kept: the vectors of all subwords, the mean of each sentence and EDU (under its unit's name), and what the
# states of EDUs are made of, or the states.
SUBWORDS, STATES, EDGES = "subwords", "states", "edges"


class Reading:
    """A text whose vectors come stretch by stretch: finds where units end and pools the vectors of those that have.

    Attributes:
        words: The text's subwords.
        sentences: Its sentences.
        edus: Its EDUs.
        vectors: What is kept, by name.
    """

    def __init__(
        self,
        network: ParserNetwork,
        text: str,
        words: Subwords,
        sentences: Sequence[Span] | None,
        edus: Sequence[Span] | None,
        keep: Collection[str],
    ) -> None:
        """Begin before the first subword.

        Args:
            network: Finds units and pools EDUs.
            text: The text.
            words: Its subwords.
            sentences: Its sentences, if they are known.
            edus: Its EDUs, if they are known.
            keep: What is kept.
        """
        self.words, self._network, self._keep = words, network, keep
        # Without subwords there are no units.
        known = (sentences, edus) if len(words) else ([], [])
        self.sentences, self.edus = (Units(text, words, given) for given in known)
        self._pooled = {"sentence": 0, "edu": 0, STATES: 0}
        self.vectors = {name: Gathered() for name in (*keep, EDGES)}
        self._given = np.array([span.start for span in known[0] or ()], dtype=np.int64)
        openings = Layout(text).openings() if self.sentences.found else ()
        self._forced = first_subwords(words, [Span(offset, offset + 1) for offset in openings])
        # Which subwords begin a sentence.
        self._opens = np.zeros(len(words), dtype=bool)
        self._opens[self.sentences.starts] = True
        # Vectors that are still needed, from subword `_first` on; units that begin before `_read` are known.
        self._held, self._first, self._read = torch.zeros(0, network.encoder.width, device=network.device), 0, 0

    def add(self, vectors: Tensor) -> None:
        """Go on with the next vectors `(subwords, width)`."""
        if SUBWORDS in self._keep:
            self.vectors[SUBWORDS].add(vectors)
        self._held = torch.cat([self._held, vectors]) if len(self._held) else vectors
        reached, tagger = self._first + len(self._held), self._network.tagger
        if not (self.sentences.found or self.edus.found):
            self._read = reached
            self.sentences.go_on(reached)
            self.edus.go_on(reached)
        else:
            ahead = segmenter.PIECE + tagger.reach
            while self._read < len(self.words) and (reached == len(self.words) or self._read + ahead <= reached):
                self._tag()
        self._pool()
        needed = [self._read - tagger.reach]
        needed += [self.edus.following] if STATES in self._keep or "edu" in self._keep else []
        needed += [self.sentences.following] if "sentence" in self._keep else []
        first = max(self._first, min(needed)) if self._read < len(self.words) else len(self.words)
        # A copy, so that the other vectors leave memory.
        self._held, self._first = self._held[first - self._first :].clone(), first

    def taken(self, name: str) -> Tensor:
        """Return what is kept under a name, row by row; it is no longer kept here."""
        width = self._network.config.hidden if name == STATES else self._network.encoder.width
        return self.vectors.pop(name).whole(width).to(self._held.device)

    def _tag(self) -> None:
        """Find the units that begin in the next piece of the text."""
        words, config, first = self.words, self._network.config, self._read
        seen = slice(self._first, self._first + len(self._held))
        gaps, cases = (torch.from_numpy(array[seen]).to(self._held.device) for array in (words.gaps, words.cases))
        logits = self._network.tagger.piece(self._held, gaps, cases, first - self._first)
        of_edus, of_sentences = boundary_probabilities(logits)
        self._read = after = first + len(logits)
        if self.sentences.found:
            begins = starts_from(of_sentences, words, config.sentence_threshold, self._forced, first)
            offsets = _offsets(words, begins)
            before = len(self.sentences.spans)
            self.sentences.go_on(after, offsets.tolist())
            self._opens[self.sentences.starts[before:]] = True
            self._opens[self.sentences.following : self.sentences.following + 1] = True
        else:
            self.sentences.go_on(after)
            limits = words.starts[first] if first else 0, words.starts[after] if after < len(words) else math.inf
            offsets = self._given[slice(*np.searchsorted(self._given, limits))]
        if self.edus.found:
            begins = starts_from(of_edus, words, config.edu_threshold, first=first)
            self.edus.go_on(after, np.unique(np.concatenate([_offsets(words, begins), offsets])).tolist())
        else:
            self.edus.go_on(after)

    def _pool(self) -> None:
        """Keep what is made of the units that have ended since the last time."""
        for name, units in (("sentence", self.sentences), ("edu", self.edus), (STATES, self.edus)):
            if name in self._keep and len(units.spans) > self._pooled[name]:
                done, self._pooled[name] = self._pooled[name], len(units.spans)
                if name in UNITS:
                    starts = self.words.starts[self._first : self._first + len(self._held)]
                    self.vectors[name].add(pool(self._held, starts, units.spans[done:]))
                else:
                    layout = self._layout(done, len(units.spans))
                    self.vectors[name].add(self._network.edus.pool(self._held, layout))
                    edges = self._network.edges(self._held, layout)
                    if edges is not None:
                        self.vectors[EDGES].add(edges)

    def _layout(self, first: int, after: int) -> EDULayout:
        """Return the layout of some EDUs relative to the vectors that are held."""
        starts, following = self.edus.starts[first:after], self.edus.following
        ends = np.maximum(np.append(starts[1:], following), starts + 1)
        openings = opening_kinds(self.words, self._opens, np.append(starts, min(following, len(self.words) - 1)))
        openings[-1] = OPENS_PARAGRAPH if following == len(self.words) else openings[-1]
        arrays = starts - self._first, ends - self._first, openings
        return EDULayout(*(torch.from_numpy(array).to(self._held.device) for array in arrays))


def read(windows: WindowEncoder, readings: Sequence[Reading]) -> None:
    """Read texts from beginning to end with the vectors of an encoder."""
    for index, vectors in windows.stretches([reading.words for reading in readings]):
        readings[index].add(vectors)


def kept(network: ParserNetwork, reading: Reading, names: Collection[str]) -> dict[str, Tensor]:
    """Return what a text that has been read keeps, by name; under `STATES` are the states of its EDUs."""
    found = {name: reading.taken(name) for name in names}
    if found.get(STATES) is not None and len(found[STATES]):
        found[STATES] = network.edus.in_context(found.pop(STATES))
    return found


def _offsets(words: Subwords, begins: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return where subwords begin that begin units, but for the first: a unit may have characters before it."""
    return words.starts[begins[begins > 0]]


def pool(vectors: Tensor, starts: NDArray[np.int64], spans: Sequence[Span]) -> Tensor:
    """Return `(units, width)`: the mean of the subword vectors that begin in each span.

    Args:
        vectors: `(subwords, width)` contextual vectors of a stretch of text.
        starts: `(subwords,)` offset of each subword's first character, in order.
        spans: Units in the stretch, in order; one without a subword gets zeros.
    """
    bounds = np.array([(span.start, span.end) for span in spans], dtype=np.int64).reshape(-1, 2)
    first, after = torch.from_numpy(np.searchsorted(starts, bounds.T)).to(vectors.device)
    owner = torch.repeat_interleave(torch.arange(len(spans), device=vectors.device), after - first)
    # Units tile the text, so the subwords of all units are one stretch.
    inside = vectors[first[0] : after[-1]] if len(spans) else vectors[:0]
    sums = vectors.new_zeros(len(spans), vectors.shape[1]).index_add(0, owner, inside)
    means: Tensor = sums / (after - first).clamp_min(1)[:, None]
    return means
