"""Segmentation into sentences and EDUs, from subword vectors, layout and case; and sentences from lines or NLTK."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from discsum.constants import SENTENCES
from discsum.document import Span
from discsum.errors import InputError, MissingExtraError
from discsum.layout import Layout
from discsum.parsers.budgets import budget_of, concatenate
from discsum.parsers.no_borders import no_sentence_begins, no_unit_begins
from discsum.parsers.subwords import CASES, GAPS, OTHER, Subwords, first_subwords
from discsum.writing import LINE_ENDS

# A line without its leading white space.
_LINE = re.compile(rf"\S[^{LINE_ENDS}]*")
INSIDE, EDU_START, SENTENCE_START = range(3)
# Convolutions, and the subwords that each reads.
LAYERS, KERNEL = 2, 5
# Maximum number of signs in a row, such as dashes, that are joined to an EDU.
MOST_MARKS = 8


class BoundaryTagger(nn.Module):
    """Tags every subword as inside a unit, the start of an EDU, or the start of a sentence (and an EDU)."""

    def __init__(self, width: int, hidden: int, dropout: float) -> None:
        """Build convolutions of `hidden` channels over vectors of `width`."""
        super().__init__()
        self.gap = nn.Embedding(len(GAPS), hidden)
        self.case = nn.Embedding(len(CASES), hidden)
        self.input = nn.Linear(width, hidden)
        self.norms = nn.ModuleList(nn.LayerNorm(hidden) for _ in range(LAYERS + 1))
        self.convolutions = nn.ModuleList(nn.Conv1d(hidden, hidden, KERNEL, padding=KERNEL // 2) for _ in range(LAYERS))
        self.dropout = nn.Dropout(dropout)
        self.output = nn.Linear(hidden, 3)
        # Subwords on either side that a tag depends on.
        self.reach = LAYERS * (KERNEL // 2)

    def forward(self, vectors: Sequence[Tensor], gaps: Sequence[Tensor], cases: Sequence[Tensor]) -> list[Tensor]:
        """Return `(subwords, 3)` logits for each document.

        Args:
            vectors: `(subwords, width)` of each document.
            gaps: `(subwords,)` `Subwords.gaps` of each.
            cases: `(subwords,)` `Subwords.cases` of each.
        """
        most = budget_of(self.output.weight.device).tokens
        # Pieces that are tagged together: document, first subword, and the subwords to read, with context.
        groups: list[list[tuple[int, int, slice]]] = [[]]
        room = most
        for document, own in enumerate(vectors):
            for start in range(0, len(own), most):
                after = min(start + most, len(own))
                if after - start > room:
                    groups.append([])
                    room = most
                groups[-1].append((document, start, slice(max(0, start - self.reach), after + self.reach)))
                room -= after - start
        found = [[own.new_zeros(0, self.output.out_features)] for own in vectors]
        for group in groups if groups[0] else []:
            parts = ([of[document][rows] for document, _, rows in group] for of in (vectors, gaps, cases))
            for (document, start, rows), logits in zip(group, self._tag(*parts), strict=True):
                found[document].append(logits[start - rows.start :][:most])
        return [torch.cat(pieces) for pieces in found]

    def _tag(self, vectors: list[Tensor], gaps: list[Tensor], cases: list[Tensor]) -> Sequence[Tensor]:
        """Return the logits of several stretches of text, which do not influence each other."""
        lengths = [len(own) for own in vectors]
        rows, gap, case = (
            concatenate(parts).to(vectors[0].device, non_blocking=True) for parts in (vectors, gaps, cases)
        )
        states = self.norms[0](self.input(self.dropout(rows)) + self.gap(gap) + self.case(case))
        convolutions: Iterable[nn.Conv1d] = self.convolutions  # type: ignore[assignment]
        for norm, convolution in zip(list(self.norms)[1:], convolutions, strict=True):
            update = torch.nn.functional.gelu(_apart(convolution, states, lengths))
            states = norm(states + self.dropout(update))
        logits: Tensor = self.output(self.dropout(states))
        return torch.split(logits, lengths)


def _apart(convolution: nn.Conv1d, states: Tensor, lengths: list[int]) -> Tensor:
    """Convolve each stretch of rows separately, padded with zeros; return `(rows, channels)`."""
    margin = convolution.kernel_size[0] // 2
    zeros = states.new_zeros(margin, states.shape[1])
    rows = concatenate([part for own in torch.split(states, lengths) for part in (own, zeros)][:-1])
    # (1, channels, rows)
    found: Tensor = convolution(rows.T[None])[0].T
    sizes = [size for length in lengths for size in (length, margin)][:-1]
    return concatenate(torch.split(found, sizes)[::2])


def boundary_probabilities(logits: Tensor) -> Tensor:
    """Return `(2, subwords)` probabilities that an EDU and that a sentence begins, from logits `(subwords, 3)`."""
    tags = torch.softmax(logits.detach().float(), dim=-1)
    return torch.stack([tags[:, EDU_START] + tags[:, SENTENCE_START], tags[:, SENTENCE_START]])


@dataclass(frozen=True)
class Borders:
    """What is known of the beginnings of units, whatever the tagger finds.

    Attributes:
        forced: Indices of subwords that begin units of a kind.
        closed: Indices of subwords that begin none of this kind; in a sentence, EDUs may begin there.
    """

    forced: NDArray[np.int64]
    closed: NDArray[np.int64]


def starts_from(
    probabilities: NDArray[np.float32],
    subwords: Subwords,
    threshold: float,
    known: Borders | None = None,
    first: int = 0,
) -> NDArray[np.int64]:
    """Return the indices of subwords that begin units.

    These are the subwords that may begin a unit and have a probability above `threshold`, without the `known.closed`
    ones; the text's first subword; and the `known.forced` ones. `probabilities` are those of subwords from `first` on;
    only these subwords are returned.
    """
    after = first + len(probabilities)
    begins = (probabilities > threshold) & subwords.opens[first:after]
    if known is not None:
        for indices, value in ((known.closed, False), (known.forced, True)):
            begins[indices[(indices >= first) & (indices < after)] - first] = value
    if len(begins) and not first:
        begins[0] = True
    return first + np.flatnonzero(begins)


def joined_marks(
    edus: NDArray[np.int64],
    sentences: NDArray[np.int64],
    probabilities: NDArray[np.float32],
    subwords: Subwords,
    first: int = 0,
) -> NDArray[np.int64]:
    """Return the indices of subwords that begin EDUs, sentences included, without EDUs of punctuation alone.

    Such an EDU is joined to the one beside it from which the less probable border divides it, but not across a border
    of sentences. It stays if it is a whole sentence, or part of a line of more than `MOST_MARKS` signs.

    Args:
        edus: `(edus,)` indices of subwords that begin EDUs.
        sentences: `(sentences,)` indices of subwords that begin sentences.
        probabilities: `(read,)` probabilities that an EDU begins at the subwords from `first` on.
        subwords: The subwords of the text.
        first: Subword from which on the text is read.
    """
    starts, fixed, after = np.union1d(edus, sentences), set(sentences.tolist()), first + len(probabilities)
    bounds = np.append(starts, after) if after == len(subwords) else starts
    words = np.concatenate([[0], np.cumsum(subwords.cases[first:after] != OTHER)])
    dropped = set[int]()
    for place in np.flatnonzero(np.diff(words[bounds - first]) == 0).tolist():
        begin, end = bounds[place : place + 2].tolist()
        beside = leading_marks(subwords.cases[:begin][::-1]) + leading_marks(subwords.cases[end:])
        if beside + end - begin > MOST_MARKS:
            continue
        if begin in fixed or begin in dropped:
            less = end
        elif end in fixed or end == after:
            less = begin
        else:
            less = begin if probabilities[begin - first] < probabilities[end - first] else end
        if less not in fixed:
            dropped.add(less)
    return starts[~np.isin(starts, [*dropped])]


def leading_marks(cases: NDArray[np.int64]) -> int:
    """Return the number of subwords before the first with letters or digits, at most `MOST_MARKS` + 1.

    Args:
        cases: `(subwords,)` their `Subwords.cases`; reversed, they give the marks right before a subword.
    """
    nearest = cases[: MOST_MARKS + 1]
    words = np.flatnonzero(nearest != OTHER)
    return int(words[0]) if len(words) else len(nearest)


def known_borders(text: str, subwords: Subwords) -> tuple[Borders, Subwords]:
    """Return what the writing of a text says of the beginnings of its units.

    Returns:
        The borders of sentences by the text's layout, which items of a list have, and headings do not have inside; and
        the subwords, of which those in and after a bullet or number, inside a dateline, after abbreviations and in
        marks of sources may not begin a unit.
    """
    layout = Layout(text)
    # What follows the last subword, such as a line with nothing but a byte order mark, stays with the unit before.
    last = int(subwords.ends[-1]) if len(subwords) else 0
    forced = first_subwords(subwords, [Span(offset, offset + 1) for offset in layout.openings() if offset < last])
    opens = subwords.opens & ~_inside(subwords, [*layout.markers(), *layout.datelines(), *no_unit_begins(text)])
    closed = np.flatnonzero(_inside(subwords, [*layout.headings(), *no_sentence_begins(text)]))
    return Borders(forced, closed), replace(subwords, opens=opens)


def _inside(subwords: Subwords, stretches: Sequence[tuple[int, int]]) -> NDArray[np.bool_]:
    """Return `(subwords,)`: which begin in one of the stretches `(start, end)`, after `start` and up to `end`."""
    found = np.zeros(len(subwords), dtype=bool)
    for bounds in np.searchsorted(subwords.starts, np.array(stretches, dtype=np.int64).reshape(-1, 2), side="right"):
        found[slice(*bounds)] = True
    return found


def predicted_starts(
    of_edus: NDArray[np.float32],
    of_sentences: NDArray[np.float32],
    subwords: Subwords,
    thresholds: tuple[float, float],
    known: Borders | None = None,
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the indices of a text's subwords that begin EDUs, and that begin sentences; sentences begin EDUs too.

    `thresholds` are those of EDUs and of sentences; `known` is what `known_borders` returns, None for gold documents,
    whose layout is varied in training.
    """
    sentences = starts_from(of_sentences, subwords, thresholds[1], known)
    return joined_marks(starts_from(of_edus, subwords, thresholds[0]), sentences, of_edus, subwords), sentences


class SpanCutter:
    """Cuts a text at offsets, given in order, into spans without white space at their ends.

    The first span begins at the text's first non-space character, so that the spans tile the text.

    Attributes:
        spans: The spans that have ended.
        start: Offset at which the next span begins.
    """

    def __init__(self, text: str) -> None:
        """Start without spans."""
        self._text, self.spans = text, list[Span]()
        self.start = len(text) - len(text.lstrip())

    def cut(self, offsets: Iterable[int]) -> None:
        """End a span before each offset, where another one begins."""
        for offset in offsets:
            if offset > self.start:
                inside = self._text[self.start : offset].rstrip()
                if inside:
                    self.spans.append(Span(self.start, self.start + len(inside)))
                self.start = offset

    def end(self) -> None:
        """End the last span at the end of the text."""
        self.cut([len(self._text)])


def spans_from(text: str, starts: Iterable[int]) -> list[Span]:
    """Return the spans between the given character offsets, as `SpanCutter` cuts them."""
    cutter = SpanCutter(text)
    cutter.cut(starts)
    cutter.end()
    return cutter.spans


def check_source(sentences: object) -> None:
    """Raise `InputError` for a name of no source of sentences; spans are not checked."""
    if isinstance(sentences, str) and sentences not in SENTENCES:
        raise InputError(f"expected sentences from one of {', '.join(SENTENCES)}, got {sentences!r}")


def split_sentences(text: str, splitter: str) -> list[Span]:
    """Return the sentences of `text` without a parser: `newline`, one per line; `nltk`, by NLTK's English Punkt model.

    Raises:
        InputError: An unknown splitter.
        MissingExtraError: NLTK's model is not installed.
    """
    check_source(splitter)
    if splitter == "newline":
        return spans_from(text, [match.start() for match in _LINE.finditer(text)])
    if splitter == "nltk":
        return spans_from(text, [start for start, _ in _punkt().span_tokenize(text)])
    raise InputError(f"expected nltk or newline to split sentences, got {splitter!r}")


@cache
def _punkt() -> Any:
    from nltk.tokenize import PunktTokenizer

    try:
        return PunktTokenizer("english")
    except LookupError as error:
        raise MissingExtraError(
            "NLTK's sentence model is not installed. Please run: python -m nltk.downloader punkt_tab"
        ) from error
