"""Subwords of a text with character offsets, layout and case, and the windows in which they are encoded."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, fields
from itertools import chain, pairwise
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from discsum.batches import packed
from discsum.document import Span
from discsum.parsers.characters import DIGIT, LETTER, LINE_END, LOWER_OR_TITLE, SPACE, UPPER, Characters
from discsum.writing import BLANK_LINE

if TYPE_CHECKING:
    from tokenizers import Encoding, Tokenizer

GAPS = ("none", "space", "newline", "blank line")
CASES = ("lower", "capitalized", "upper", "digit", "other")
# The case of punctuation and other signs.
OTHER = CASES.index("other")
_SURROGATE = re.compile("[\ud800-\udfff]")
# White space that BERT's tokenizer deletes as control characters, which would join the words on both sides.
_DELETED_SPACE = re.compile("[\v\f\x1c-\x1f\x85]")
_BETWEEN_WORDS = re.compile(r"(?<=[^\W\d_]) (?=[^\W\d_])")
# About how many characters are tokenized at once, which bounds memory.
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

    Lone surrogates, which tokenizers refuse, are replaced by U+FFFD, and rare white space by spaces; that changes no
    offset.
    """
    return next(split_texts([text], tokenizer))


def split_texts(texts: Iterable[str], tokenizer: Tokenizer) -> Iterator[Subwords]:
    """Yield the subwords of each text; up to `PIECE` characters are tokenized together, in threads of the tokenizer."""
    for some in packed(texts, len, PIECE):
        plain = [_DELETED_SPACE.sub(" ", _SURROGATE.sub("\ufffd", text)) for text in some]
        if len(some) == 1:
            # A single text gains nothing from a batch, and the tokenizer would warn if the process forked later.
            yield _joined(some[0], _pieces(plain[0], tokenizer), tokenizer)
        else:
            encodings = tokenizer.encode_batch(plain, add_special_tokens=False)
            yield from (_joined(text, [(0, one)], tokenizer) for text, one in zip(some, encodings, strict=True))


def _pieces(text: str, tokenizer: Tokenizer) -> Iterator[tuple[int, Encoding]]:
    """Yield the offset and the encoding of each piece of a text."""
    for start, after in pairwise(_cuts(text)):
        yield start, tokenizer.encode(text[start:after], add_special_tokens=False)


def _joined(text: str, pieces: Iterable[tuple[int, Encoding]], tokenizer: Tokenizer) -> Subwords:
    """Return the subwords of a text from the offset and the encoding of each of its pieces."""
    described, before = list[Subwords](), 0
    for start, encoding in pieces:
        ids = np.array(encoding.ids, dtype=np.int64)
        spans = np.fromiter(chain.from_iterable(encoding.offsets), np.int64, 2 * len(ids)).reshape(-1, 2)
        described.append(_described(text, ids, start + spans, before))
        before = max((before, *described[-1].ends[-1:].tolist()))
    if not any(map(len, described)) and text.strip():
        # Tokenizers drop control characters. Units need a subword, so a text of nothing else gets one unknown word.
        unknown = tokenizer.token_to_id(getattr(tokenizer.model, "unk_token", None) or "") or 0
        spans = np.array([[len(text) - len(text.lstrip()), len(text.rstrip())]])
        described = [_described(text, np.array([unknown]), spans, 0)]
    return Subwords(
        *(np.concatenate([getattr(piece, field.name) for piece in described]) for field in fields(Subwords))
    )


def _cuts(text: str) -> list[int]:
    """Return the bounds of pieces of about `PIECE` characters, which are tokenized separately.

    A tokenizer keeps some hundred bytes per character. Pieces begin at single spaces between letters, where every
    tokenizer ends a word. The space goes to the next piece, because some tokenizers count it to the word after it.
    """
    cuts = [0]
    while found := _BETWEEN_WORDS.search(text, cuts[-1] + PIECE):
        cuts.append(found.start())
    return [*cuts, len(text)]


def _described(text: str, ids: NDArray[np.int64], spans: NDArray[np.int64], before: int) -> Subwords:
    """Return subwords with gap, case and opening; `before` is the end of the subwords before them, 0 if none.

    The `spans` `(subwords, 2)` may include the space before a word; empty subwords are left out.
    """
    starts, ends = spans.T
    # From one character before the subwords on, which may be in the same word.
    first = min(before, max(0, int(starts.min(initial=len(text))) - 1))
    characters = Characters(text[first : int(ends.max(initial=first))])
    starts, ends = starts - first, ends - first
    starts = characters.skip_spaces(starts, ends)
    kept = starts < ends
    ids, starts, ends = ids[kept], starts[kept], ends[kept]
    befores = np.maximum.accumulate(np.append(before - first, ends))[:-1]
    gaps = (characters.count(SPACE, befores, starts) > 0).astype(np.int64)
    for index in np.flatnonzero(characters.count(LINE_END, befores, starts)):
        blank = BLANK_LINE.search(text, first + befores[index], first + starts[index])
        gaps[index] = GAPS.index("blank line" if blank else "newline")
    if before == 0:
        gaps[:1] = GAPS.index("blank line")
    begin = {flag: characters.are(flag)[starts] for flag in (DIGIT, LETTER, UPPER)}
    upper = (ends - starts > 1) & (characters.count(LOWER_OR_TITLE, starts, ends) == 0)
    cases = np.select(
        [begin[DIGIT], ~begin[LETTER], ~begin[UPPER], upper],
        [CASES.index(name) for name in ("digit", "other", "lower", "upper")],
        CASES.index("capitalized"),
    )
    # Byte-level tokenizers may split one character into several subwords, which all begin at its offset.
    opens = (starts >= befores) & ~characters.inside_words()[starts]
    return Subwords(ids, first + starts, first + ends, gaps, cases, opens)


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


def without_limits(tokenizer: Tokenizer) -> Tokenizer:
    """Return the tokenizer without truncation and padding, which its file may set."""
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return tokenizer
