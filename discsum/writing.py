"""Writing systems: letters that are written without spaces between words, and the marks that end a sentence."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Sequence

# Thai, Lao, Tibetan, Myanmar, Khmer; CJK punctuation, kana, bopomofo, ideographs; halfwidth and fullwidth forms.
_UNSPACED = (
    "\u0e00-\u0eff\u0f00-\u0fff\u1000-\u109f\u1780-\u17ff"
    "\u2e80-\u312f\u3190-\u31ff\u3400-\u4dbf\u4e00-\u9fff\ua000-\ua4cf\uf900-\ufaff\ufe30-\ufe4f\uff01-\uff9f"
    "\U0001b000-\U0001b16f\U00020000-\U0003ffff"
)
_UNSPACED_CHARACTER = re.compile(f"[{_UNSPACED}]")
# A word: letters, without digits; in scripts without spaces, where words cannot be told apart, a single letter.
WORD = re.compile(rf"[^\W\d_{_UNSPACED}]+|(?=[^\W\d_])[{_UNSPACED}]")
# The same with digits.
WORD_OR_NUMBER = re.compile(rf"[^\W{_UNSPACED}]+|(?=\w)[{_UNSPACED}]")
# Function words of English that other languages lack.
FUNCTION_WORDS = {
    *("the", "of", "and", "to", "that", "for", "with", "from", "this", "these", "those", "is", "are", "were", "been"),
    *("has", "have", "had", "his", "her", "their", "they", "you", "your", "it", "its", "be", "by", "at", "which"),
    *("would", "could", "should", "not", "but", "we", "she", "he", "will", "when", "what", "who", "there", "than"),
    *("into", "about", "more"),
}
# Characters that end a line, for use in a character class; one of them; a blank line, or a character that ends a
# paragraph or page.
LINE_ENDS = r"\r\n\v\f\u0085\u2028\u2029"
LINE_BREAK = re.compile(rf"[{LINE_ENDS}]")
BLANK_LINE = re.compile(r"\n[^\S\n]*\n|\r[^\S\r\n]*\r|\r\n[^\S\n]*\r\n|[\u2029\f]")
# Matches only at the beginning of a run of spaces, so that time is linear in its length.
_BREAK = re.compile(rf"(?<![^\S{LINE_ENDS}])[^\S{LINE_ENDS}]*[{LINE_ENDS}]\s*")
_TOKENIZED = re.compile(rf"[{_UNSPACED}]\s+[{_UNSPACED}]")
# Latin and fullwidth, CJK, Arabic and Urdu, Devanagari and its neighbours, Armenian, Ethiopic, Khmer, Myanmar, Tibetan.
# Mongolian; the Greek question mark.
_FINAL = tuple(".!?…‼⁇⁈⁉‽。．｡！？؟۔।॥։።፧។៕။།᠃\u037e")
# Quotes and brackets; zero-width characters and marks of direction.
_CLOSING = "\"'”’“‘»«›‹)]}）］｝」』】》〉〕｣＂＇ " + "\u200b\u200e\u200f\u202c\u202e\u2060\u2069\ufeff"
# A question mark in Greek text, where ASCII has the semicolon.
_GREEK_QUESTION = re.compile(r"[\u0370-\u03ff\u1f00-\u1fff]{2}\s*;\Z")
# What may follow a sentence: numbers of footnotes, and emoji with their modifiers.
_AFTER_END = re.compile(
    r"(?:\s*(?:\[\d{1,3}\]|[\u00b9\u00b2\u00b3\u2070-\u2079\u2600-\u27bf\u2b50\ufe0f\u200d\U0001f1e6-\U0001faff]))+$"
)
# Zero-width joiners and non-joiners inside words, as in Persian and Hindi.
JOINER = "\u200d"
_JOINERS = "\u200c" + JOINER


# Full stops by the script that begins a character's name; Thai and Lao have none, other scripts that of Latin.
_FULL_STOPS = dict.fromkeys(("CJK", "HIRAGANA", "KATAKANA", "BOPOMOFO"), "。") | dict.fromkeys(("THAI", "LAO"), "")
_FULL_STOPS |= dict.fromkeys(("DEVANAGARI", "BENGALI"), "।") | {"ARMENIAN": "։", "ETHIOPIC": "።"}
_FULL_STOPS |= {"KHMER": "។", "MYANMAR": "။", "TIBETAN": "།"}


def full_stop(text: str) -> str:
    """Return the full stop of the script of a text's last letter."""
    letter = next(filter(str.isalpha, reversed(text)), "")
    return _FULL_STOPS.get(unicodedata.name(letter, " ").split(" ")[0] if letter else "", ".")


def is_unspaced(character: str) -> bool:
    """Return whether a character is of a script that is written without spaces between words."""
    return _UNSPACED_CHARACTER.match(character) is not None


def is_mark(character: str) -> bool:
    """Return whether a character is a combining mark or a joiner."""
    return character in _JOINERS or unicodedata.category(character).startswith("M")


def count_words(text: str) -> int:
    """Return the number of words: separated by white space; in scripts without spaces, each letter is one."""
    if text.isascii() or not _UNSPACED_CHARACTER.search(text):
        return len(text.split())
    # Letters and digits of full width are those of other scripts.
    return sum(_unspaced_words(word) or 1 for word in unicodedata.normalize("NFKC", text).split())


def _unspaced_words(text: str) -> int:
    """Return the number of letters of scripts without spaces, and of runs with other letters or digits between them."""
    letters = sum(map(str.isalnum, _UNSPACED_CHARACTER.findall(text)))
    return letters + sum(any(map(str.isalnum, part)) for part in _UNSPACED_CHARACTER.split(text))


def is_inside_word(text: str, position: int) -> bool:
    """Return whether a word or emoji continues from the character before `position` to the one at it.

    Letters, digits, combining marks and joiners make words, and emoji. In scripts without spaces, any character but a
    combining mark may begin a word.
    """
    if not 0 < position < len(text):
        return False
    before, after = text[position - 1], text[position]
    if is_mark(after) or before == JOINER:
        return not before.isspace()
    return _in_word(before) and _in_word(after) and not (is_unspaced(before) or is_unspaced(after))


def ends_sentence(text: str, also: str = "") -> bool:
    """Return whether a text ends with final punctuation or a mark in `also`.

    Closing quotes and brackets, numbers of footnotes and emoji may follow.
    """
    # No more characters than a few emoji and notes: the pattern takes quadratic time.
    end = _AFTER_END.sub("", text.rstrip()[-100:]).rstrip(_CLOSING)
    return end.endswith((*_FINAL, *also)) or _GREEK_QUESTION.search(end) is not None


def single_line(text: str) -> str:
    """Return a text without white space at its ends, with a space in place of each line break."""
    return _BREAK.sub(" ", text).strip()


def join_units(texts: Sequence[str], paragraph_ends: Collection[int] = ()) -> tuple[str, list[tuple[int, int]]]:
    """Return stripped texts joined by spaces, and the half-open range of offsets of each.

    There is no space between units whose nearest letters are of a script without spaces, because spaces would reveal
    where units begin. The exception are texts that have such spaces themselves, as tokenized ones do. An empty line
    follows each text whose index is in `paragraph_ends`.
    """
    tokenized = any(_TOKENIZED.search(text) for text in texts)
    joined, position, ranges = list[str](), 0, list[tuple[int, int]]()
    for index, text in enumerate(texts):
        if not index:
            gap = ""
        elif index - 1 in paragraph_ends:
            gap = "\n\n"
        else:
            gap = " " if tokenized or not _may_touch(texts[index - 1], text) else ""
        joined.append(gap + text)
        position += len(gap)
        ranges.append((position, position + len(text)))
        position += len(text)
    return "".join(joined), ranges


def _may_touch(before: str, after: str) -> bool:
    """Return whether two texts may be joined without a space: the nearest letters of both are of a script without.

    Two numbers, or words of other scripts, never touch.
    """
    if before[-1:].isascii() and after[:1].isascii():
        return False
    letters = [next(filter(str.isalpha, text), "") for text in (reversed(before), after)]
    known = [letter for letter in letters if letter]
    return bool(known) and all(map(is_unspaced, known)) and not is_inside_word(before[-1:] + after[:1], 1)


def _in_word(character: str) -> bool:
    return character.isalnum() or is_mark(character)
