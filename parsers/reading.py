"""Find units in a text piece by piece and pool their vectors, without keeping all subword vectors in memory."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn.functional import embedding_bag

from discsum.constants import UNITS
from discsum.devices import from_device, to_device
from discsum.document import Span
from discsum.memory import trim_heap_at_times
from discsum.parsers.budgets import budget_of, concatenate
from discsum.parsers.edu_vectors import OPENS_PARAGRAPH, EDULayout, opening_kinds
from discsum.parsers.encoder import WindowEncoder
from discsum.parsers.network import ParserNetwork
from discsum.parsers.row_buffer import RowBuffer
from discsum.parsers.segmenter import (
    MOST_MARKS,
    boundary_probabilities,
    joined_marks,
    known_borders,
    leading_marks,
    starts_from,
)
from discsum.parsers.subwords import Subwords
from discsum.parsers.units import Units

# Names of vectors to keep: those of all subwords; EDU states, or pooled EDU vectors until `collect_vectors` computes
# the states; `LabelInputs.edges`. Means of sentences and EDUs go by the names of the units.
SUBWORDS, STATES, EDGES = "subwords", "states", "edges"
KEPT = (*UNITS, STATES, SUBWORDS)


class Reading:
    """Reads a text whose vectors come in stretches: finds its units, and pools the vectors of units that have ended.

    Attributes:
        words: The text's subwords.
        sentences: Its sentences.
        edus: Its EDUs.
        vectors: Kept vectors by name.
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
        """Start before the first subword.

        Args:
            network: Finds units and pools EDUs.
            text: The text.
            words: Its subwords.
            sentences: Its sentences, if they are known.
            edus: Its EDUs, if they are known.
            keep: Names of the vectors to keep.
        """
        self._known = None
        if sentences is None or edus is None:
            known, words = known_borders(text, words)
            self._known = known if sentences is None else None
        self.words, self._network, self._keep = words, network, keep
        # Without subwords there are no units.
        given = (sentences, edus) if len(words) else ([], [])
        self.sentences, self.edus = (Units(text, words, spans) for spans in given)
        self._pooled = {"sentence": 0, "edu": 0, STATES: 0}
        self.vectors = {name: RowBuffer() for name in (*keep, EDGES)}
        self._given = np.array([span.start for span in given[0] or ()], dtype=np.int64)
        # Which subwords begin a sentence.
        self._opens = np.zeros(len(words), dtype=bool)
        self._opens[self.sentences.starts] = True
        # Vectors that are still needed, from subword `_first` on. All units that begin before `_read` are known.
        self._held, self._first, self._read = torch.zeros(0, network.encoder.width, device=network.device), 0, 0

    def add(self, vectors: Tensor) -> None:
        """Append the next vectors `(subwords, width)`."""
        if SUBWORDS in self._keep:
            self.vectors[SUBWORDS].add(vectors)
        self._held = torch.cat([self._held, vectors]) if len(self._held) else vectors
        if not (self.sentences.found or self.edus.found):
            self._read = self._first + len(self._held)
            self.sentences.advance(self._read)
            self.edus.advance(self._read)

    @property
    def untagged(self) -> range:
        """The subwords that can be tagged now: not searched for units yet, and with all their context."""
        reached = self._first + len(self._held)
        return range(self._read, reached if reached == len(self.words) else reached - self._network.tagger.reach)

    def context(self) -> tuple[Tensor, Tensor, Tensor, int]:
        """Return vectors, gaps and cases of the untagged subwords with context, and how many come before them."""
        before = min(self._network.tagger.reach, self._read - self._first)
        rows = slice(self._read - before, self._first + len(self._held))
        gaps, cases = (torch.from_numpy(array[rows]) for array in (self.words.gaps, self.words.cases))
        return self._held[self._read - before - self._first :], gaps, cases, before

    def divide(self, of_edus: NDArray[np.float32], of_sentences: NDArray[np.float32]) -> None:
        """Find the units that begin in the untagged subwords, from probabilities that EDUs and sentences begin."""
        words, config, first = self.words, self._network.config, self._read
        self._read = after = first + self._decided(len(of_edus))
        of_edus, of_sentences = of_edus[: after - first], of_sentences[: after - first]
        if self.sentences.found:
            begins = starts_from(of_sentences, words, config.sentence_threshold, self._known, first)
            offsets = _offsets(words, begins)
            before = len(self.sentences.spans)
            self.sentences.advance(after, offsets.tolist())
            self._opens[self.sentences.starts[before:]] = True
            self._opens[self.sentences.following : self.sentences.following + 1] = True
        else:
            self.sentences.advance(after)
            limits = words.starts[first] if first else 0, words.starts[after] if after < len(words) else math.inf
            offsets = self._given[slice(*np.searchsorted(self._given, limits))]
        if self.edus.found:
            sentences = first + np.flatnonzero(self._opens[first:after])
            begins = starts_from(of_edus, words, config.edu_threshold, first=first)
            begins = joined_marks(begins, sentences, of_edus, words, first)
            self.edus.advance(after, np.union1d(_offsets(words, begins), offsets).tolist())
        else:
            self.edus.advance(after)

    def _decided(self, count: int) -> int:
        """Return how many of the next `count` subwords can be divided: those up to punctuation that may join the next.

        The rest is tagged again together with what follows.
        """
        after = self._read + count
        marks = 0 if after == len(self.words) else leading_marks(self.words.cases[:after][::-1])
        return count - min(marks, count) if marks <= MOST_MARKS else count

    def pool(self) -> None:
        """Pool and keep the means of units that have ended since the last call."""
        for name, units in (("sentence", self.sentences), ("edu", self.edus)):
            spans = units.spans[self._pooled[name] :]
            if name in self._keep and spans:
                self._pooled[name] += len(spans)
                starts = self.words.starts[self._first : self._first + len(self._held)]
                self.vectors[name].add(pool(self._held, starts, spans))

    def ended(self) -> tuple[Tensor, EDULayout] | None:
        """Return the held vectors, and the layout of EDUs that have ended since the last call, as indices into them.

        None if no EDU has ended, or states of EDUs are not kept.
        """
        first, after = self._pooled[STATES], len(self.edus.spans)
        if STATES not in self._keep or first == after:
            return None
        self._pooled[STATES] = after
        starts, following = self.edus.starts[first:after], self.edus.following
        ends = np.maximum(np.append(starts[1:], following), starts + 1)
        openings = opening_kinds(self.words, self._opens, np.append(starts, min(following, len(self.words) - 1)))
        openings[-1] = OPENS_PARAGRAPH if following == len(self.words) else openings[-1]
        return self._held, EDULayout.of(starts - self._first, ends - self._first, openings)

    def forget(self) -> None:
        """Free the vectors that are no longer needed."""
        needed = [self._read - self._network.tagger.reach]
        needed += [self.edus.following] if STATES in self._keep or "edu" in self._keep else []
        needed += [self.sentences.following] if "sentence" in self._keep else []
        first = max(self._first, min(needed)) if self._read < len(self.words) else len(self.words)
        # A copy, so that the memory of the other vectors is freed.
        self._held, self._first = self._held[first - self._first :].clone(), first

    def pop_vectors(self, name: str) -> Tensor:
        """Return the vectors kept under a name, and remove them from this reading."""
        width = self._network.config.hidden if name == STATES else self._network.encoder.width
        return self.vectors.pop(name).whole(width).to(self._held.device)


def read(network: ParserNetwork, windows: WindowEncoder, readings: Sequence[Reading]) -> None:
    """Read texts from beginning to end: `windows` encodes them, `network` finds units and pools EDUs."""
    overlap, begun = budget_of(windows.device).overlap, list[_Stretch]()
    for vectors in windows.stretches([reading.words for reading in readings]):
        # A GPU encodes this stretch while the CPU finds units in the one before.
        for stretch in begun:
            stretch.finish()
        begun = [_Stretch(network, {readings[index]: own for index, own in vectors.items()})]
        if not overlap:
            begun.pop().finish()
        # Of a long text and of many short ones alike.
        trim_heap_at_times()
    for stretch in begun:
        stretch.finish()


class _Stretch:
    """The next stretch of several texts, which are tagged and pooled together."""

    def __init__(self, network: ParserNetwork, vectors: Mapping[Reading, Tensor]) -> None:
        """Append vectors `(subwords, width)` to each text, and start tagging them."""
        for reading, own in vectors.items():
            reading.add(own)
        self._network, self._readings = network, [*vectors]
        self._tagged = [reading for reading in vectors if reading.untagged]
        self._sizes = [len(reading.untagged) for reading in self._tagged]
        if self._tagged:
            *parts, before = zip(*(reading.context() for reading in self._tagged), strict=True)
            logits = network.tagger(*parts)
            tags = zip(logits, before, self._sizes, strict=True)
            # One copy from the device for all texts.
            chances = boundary_probabilities(
                concatenate([own[skipped : skipped + size] for own, skipped, size in tags])
            )
            self._chances = from_device(chances)

    def finish(self) -> None:
        """Find units, and pool those that have ended."""
        if self._tagged:
            ends = np.cumsum(self._sizes)[:-1]
            found = (np.split(chances, ends) for chances in self._chances())
            for reading, of_edus, of_sentences in zip(self._tagged, *found, strict=True):
                reading.divide(of_edus, of_sentences)
        _pool(self._network, self._readings)
        for reading in self._readings:
            reading.forget()


def _pool(network: ParserNetwork, readings: Sequence[Reading]) -> None:
    """Pool the units that have ended in several texts, and keep the results; EDUs of all texts form one batch."""
    for reading in readings:
        reading.pool()
    ended = [(reading, found) for reading in readings if (found := reading.ended()) is not None]
    if not ended:
        return
    held, layouts = zip(*(found for _, found in ended), strict=True)
    layout = EDULayout.concatenate(layouts, [len(own) for own in held])
    vectors, counts = concatenate(held), [len(own.starts) for own in layouts]
    states, edges = network.edus.pool(vectors, layout), network.edges(vectors, layout)
    for (reading, _), own in zip(ended, torch.split(states, counts), strict=True):
        reading.vectors[STATES].add(own)
    if edges is not None:
        for (reading, _), own in zip(ended, torch.split(edges, counts), strict=True):
            reading.vectors[EDGES].add(own)


def collect_vectors(
    network: ParserNetwork, readings: Sequence[Reading], names: Collection[str]
) -> list[dict[str, Tensor]]:
    """Return the kept vectors of texts by name; pooled EDU vectors become the states under `STATES`."""
    found = [{name: reading.pop_vectors(name) for name in names} for reading in readings]
    with_states = [vectors for vectors in found if len(vectors.get(STATES, ()))]
    if with_states:
        pooled = [vectors.pop(STATES) for vectors in with_states]
        counts = [len(own) for own in pooled]
        states = network.edus.in_context(concatenate(pooled), counts)
        for vectors, own in zip(with_states, torch.split(states, counts), strict=True):
            vectors[STATES] = own
    return found


def _offsets(words: Subwords, begins: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the offsets of subwords that begin units, without subword 0: its unit may have characters before it."""
    return words.starts[begins[begins > 0]]


def pool(vectors: Tensor, starts: NDArray[np.int64], spans: Sequence[Span]) -> Tensor:
    """Return `(units, width)`: the mean of the subword vectors that begin in each span.

    Args:
        vectors: `(subwords, width)` contextual vectors of a stretch of text.
        starts: `(subwords,)` offset of each subword's first character, in order.
        spans: One or more units in the stretch, in order; one without a subword gets zeros.
    """
    first, after = np.searchsorted(starts, np.array([(span.start, span.end) for span in spans]).T)
    # Units tile the text, so the subwords of all units are one stretch.
    inside = vectors[first[0] : after[-1]]
    offsets = to_device(first - first[0], vectors.device)
    means: Tensor = embedding_bag(torch.arange(len(inside), device=vectors.device), inside, offsets, mode="mean")
    return means
