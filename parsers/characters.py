"""Classes of a text's characters as arrays, so that subwords are described without a loop over characters."""

from __future__ import annotations

import unicodedata

import numpy as np
from numpy.typing import NDArray

from discsum.writing import JOINER, LINE_BREAK, is_mark, is_unspaced

SPACE, LINE_END, WORD, MARK, JOINS, UNSPACED, DIGIT, LETTER, UPPER, LOWER_OR_TITLE = (1 << bit for bit in range(10))
_KNOWN = 1 << 10
# Classes of each code point, 0 until a text has it: only pages of memory with known characters are used.
_CLASSES = np.zeros(0x110000, dtype=np.uint16)


class Characters:
    """The characters of a piece of text; offsets count characters from its beginning."""

    def __init__(self, text: str) -> None:
        """Look up the classes of all characters."""
        codes = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype="<u4")
        classes = _CLASSES[codes]
        if not classes.all():
            for code in np.unique(codes[classes == 0]).tolist():
                _CLASSES[code] = _classes_of(chr(code))
            classes = _CLASSES[codes]
        self._classes = classes

    def are(self, classes: int) -> NDArray[np.bool_]:
        """Return `(characters,)`: whether each character is in one of the classes, combined with `|`."""
        found: NDArray[np.bool_] = (self._classes & classes) != 0
        return found

    def count(self, classes: int, starts: NDArray[np.int64], ends: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return `(ranges,)`: how many characters of the classes are in each range; 0 if it ends before its start.

        Args:
            classes: The classes, combined with `|`.
            starts: `(ranges,)` first offset of each range.
            ends: `(ranges,)` offset after its last character.
        """
        before = np.zeros(len(self._classes) + 1, dtype=np.int64)
        np.cumsum(self.are(classes), out=before[1:])
        counts: NDArray[np.int64] = np.maximum(before[ends] - before[starts], 0)
        return counts

    def skip_spaces(self, starts: NDArray[np.int64], ends: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return `(ranges,)`: the first offset of each range that is no white space, or its end; see `count`."""
        places = np.flatnonzero(~self.are(SPACE))
        following = np.append(places, len(self._classes))[np.searchsorted(places, starts)]
        found: NDArray[np.int64] = np.minimum(following, np.maximum(starts, ends))
        return found

    def inside_words(self) -> NDArray[np.bool_]:
        """Return `(characters,)`: `discsum.writing.is_inside_word` of each offset."""
        word, mark, unspaced = self.are(WORD), self.are(MARK), self.are(UNSPACED)
        found = np.zeros(len(word), dtype=bool)
        found[1:] = word[:-1] & word[1:] & ~unspaced[:-1] & ~unspaced[1:]
        found[1:] |= (mark[1:] | self.are(JOINS)[:-1]) & ~self.are(SPACE)[:-1]
        return found


def _classes_of(character: str) -> int:
    """Return the classes of a character, combined with `|`."""
    mark = is_mark(character)
    found = {
        SPACE: character.isspace(),
        LINE_END: LINE_BREAK.match(character) is not None,
        WORD: mark or character.isalnum(),
        MARK: mark,
        JOINS: character == JOINER,
        UNSPACED: is_unspaced(character),
        DIGIT: character.isdigit(),
        LETTER: character.isalpha(),
        UPPER: character.isupper(),
        # A word with such a letter is not in upper case.
        LOWER_OR_TITLE: character.islower() or unicodedata.category(character) == "Lt",
    }
    return _KNOWN | sum(bit for bit, holds in found.items() if holds)
