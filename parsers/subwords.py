"""Subwords of a text with character offsets, layout and case, and the windows in which they are encoded."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, fields
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from discsum.document import Span
from discsum.writing import BLANK_LINE, LINE_BREAK, is_inside_word

if TYPE_CHECKING:
    from tokenizers import Tokenizer

GAPS = ("none", "space", "newline", "blank line")
CASES = ("lower", "capitalized", "upper", "digit", "other")
_SURROGATE = re.compile("[\ud800-\udfff]")
_BETWEEN_WORDS = re.compile(r"(?<=[^\W\d_]) (?=[^\W\d_])")
# Characters that are tokenized at once, which bounds memory.
PIECE = 100_000


@dataclass(frozen=True)
class Subwords:
    """The subwords of one text.

    Attributes:
        ids: `(subwords,)` vocabulary indices, without special tokens.
        starts: `(subwords,)` offset of each subword's first character.
        ends: `(subwords,)` offset after its last character.
        gaps: `(subwords,)` white space before it, an index into `GAPS`; a blank line at the beginning of the text.
        cases: `(subwords,)` an index into `CASES`.
        opens: `(subwords,)` whether a unit may begin here: not inside a word (`discsum.writing.is_inside_word`).
    """

    ids: NDArray[np.int64]
    starts: NDArray[np.int64]
    ends: NDArray[np.int64]
    gaps: NDArray[np.int64]
    cases: NDArray[np.int64]
    opens: NDArray[np.bool_]

    def __len__(self) -> int:
        """Return the number of subwords."""
        return len(self.ids)


def split_subwords(text: str, tokenizer: Tokenizer) -> Subwords:
    """Return the subwords of `text`; offsets count the characters of `text`.

    Lone surrogates, which tokenizers refuse, are replaced by U+FFFD; that changes no offset.
    """
    plain, end_before, pieces = _SURROGATE.sub("\ufffd", text), 0, []
    for start, after in pairwise(_cuts(plain)):
        ids, spans = _tokens(plain[start:after], start, tokenizer)
        pieces.append(_described(text, ids, spans, end_before))
        end_before = max((end_before, *(end for _, end in spans)))
    if not any(map(len, pieces)) and text.strip():
        # Tokenizers drop control characters. Units need a subword, so a text of nothing else gets one unknown word.
        unknown = tokenizer.token_to_id(getattr(tokenizer.model, "unk_token", None) or "") or 0
        pieces = [_described(text, [unknown], [(len(text) - len(text.lstrip()), len(text.rstrip()))], 0)]
    # An empty piece, so that the arrays have their dtypes even if there is no other piece.
    pieces.append(_described(text, [], [], 0))
    return Subwords(*(np.concatenate([getattr(piece, field.name) for piece in pieces]) for field in fields(Subwords)))


def _cuts(text: str) -> list[int]:
    """Return the bounds of pieces of about `PIECE` characters, which are tokenized separately.

    A tokenizer keeps some hundred bytes per character. Pieces begin at single spaces between letters, where every
    tokenizer ends a word. The space goes to the next piece, because some tokenizers count it to the word after it.
    """
    cuts = [0]
    while found := _BETWEEN_WORDS.search(text, cuts[-1] + PIECE):
        cuts.append(found.start())
    return [*cuts, len(text)]


def _tokens(piece: str, offset: int, tokenizer: Tokenizer) -> tuple[list[int], list[tuple[int, int]]]:
    """Return vocabulary indices and offsets in the text of the subwords of a piece that begins at `offset`."""
    encoding = tokenizer.encode(piece, add_special_tokens=False)
    ids, spans = [], []
    for index, (start, end) in zip(encoding.ids, encoding.offsets, strict=True):
        # Some tokenizers include the space before a word.
        while start < end and piece[start].isspace():
            start += 1
        if start < end:
            ids.append(index)
            spans.append((offset + start, offset + end))
    return ids, spans


def _described(text: str, ids: list[int], spans: list[tuple[int, int]], before: int) -> Subwords:
    """Return subwords with gap, case and opening; `before` is the end of the subwords before them, 0 if none."""
    gaps, cases, opens = [], [], []
    for start, end in spans:
        gaps.append(_gap(text[before:start]) if before else 3)
        cases.append(_case(text[start:end]))
        # Byte-level tokenizers may split one character into several subwords, which all begin at its offset.
        opens.append(start >= before and not is_inside_word(text, start))
        before = max(before, end)
    starts, ends = np.array(spans, dtype=np.int64).reshape(-1, 2).T
    integers = (np.array(ids, dtype=np.int64), starts, ends, np.array(gaps, dtype=np.int64))
    return Subwords(*integers, np.array(cases, dtype=np.int64), np.array(opens, dtype=bool))


def _gap(between: str) -> int:
    if not between or not any(character.isspace() for character in between):
        return 0
    if between == " ":
        return 1
    return 3 if BLANK_LINE.search(between) else 2 if LINE_BREAK.search(between) else 1


def _case(word: str) -> int:
    if word[0].isdigit():
        return 3
    if not word[0].isalpha():
        return 4
    if not word[0].isupper():
        return 0
    return 2 if len(word) > 1 and word.isupper() else 1


def first_subwords(subwords: Subwords, spans: Sequence[Span]) -> NDArray[np.int64]:
    """Return `(spans,)`: the subword that contains or follows each span's first character, or the last subword.

    Spans share a subword only if one of them has none of its own: it consists of control characters, or begins inside a
    subword.
    """
    starts = np.array([span.start for span in spans], dtype=np.int64)
    return np.minimum(np.searchsorted(subwords.ends, starts, side="right"), len(subwords) - 1)


@dataclass(frozen=True, slots=True)
class Window:
    """A range of one document's subwords that is encoded in one piece.

    Attributes:
        document: Index of the document in the batch.
        start: First subword encoded.
        end: Subword after the last encoded.
        keep_start: First subword whose vector is taken from this window.
        keep_end: Subword after the last whose vector is taken from this window.
    """

    document: int
    start: int
    end: int
    keep_start: int
    keep_end: int


def cut_windows(lengths: Sequence[int], size: int, overlap: int, shifts: Sequence[int] | None = None) -> list[Window]:
    """Return windows of at most `size` subwords that cover documents of the given lengths.

    Neighbours share at least `overlap` subwords. Each vector is taken from the window in which it is further from the
    edge, so every subword but the document's outermost has at least `overlap // 2` subwords of context on either side.
    `shifts` shortens each document's first window, which varies the borders between training epochs.
    """
    windows = []
    for document, length in enumerate(lengths):
        first = size - shifts[document] if shifts and shifts[document] else 0
        if 0 < first < length:
            bounds = [(0, first), *_evenly(first - overlap, length, size, overlap)]
        else:
            bounds = _evenly(0, length, size, overlap)
        keep = 0
        for (start, end), (after, _) in pairwise([*bounds, (length, length)]):
            keep_end = (end + after) // 2
            windows.append(Window(document, start, end, keep, keep_end))
            keep = keep_end
    return windows


def _evenly(start: int, length: int, size: int, overlap: int) -> list[tuple[int, int]]:
    """Return as few windows over `start..length` as possible, all of one length, so that a batch has no padding."""
    if start == length:
        return []
    count = max(1, -(-(length - start - overlap) // (size - overlap)))
    each = min(length - start, -(-(length - start - overlap) // count) + overlap)
    room = length - each - start
    return [(begin, begin + each) for begin in (start + room * index // max(1, count - 1) for index in range(count))]
