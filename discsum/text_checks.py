"""Warnings about texts that are empty, are not in the parser's language, or are markup."""

from __future__ import annotations

import re
import warnings
from functools import cache
from typing import TYPE_CHECKING

from discsum.errors import InputWarning

if TYPE_CHECKING:
    from py3langid.langid import LanguageIdentifier

ENGLISH = "en"
# Characters at the beginning of a text that are checked, fewest bytes of letters for detecting the language, and the
# confidence that the detector must have.
MOST_CHARACTERS, FEWEST_BYTES, SURE = 5000, 20, 0.8
# Function words of English that other languages lack. Texts with this share of them are English: the lowest share among
# 507 news articles and documents of GUM was .19. Only other texts need the detector, which takes a second to load.
ENGLISH_SHARE = 0.15
FUNCTION_WORDS = {
    *("the", "of", "and", "to", "that", "for", "with", "from", "this", "these", "those", "is", "are", "were", "been"),
    *("has", "have", "had", "his", "her", "their", "they", "you", "your", "it", "its", "be", "by", "at", "which"),
    *("would", "could", "should", "not", "but", "we", "she", "he", "will", "when", "what", "who", "there", "than"),
    *("into", "about", "more"),
}
_WORD = re.compile(r"[^\W\d_]+")
_TAG = re.compile(
    r"</?(?:html|head|body|div|span|p|br|a|img|ul|ol|li|table|tr|td|h[1-6]|script|style|meta|link|section|article)"
    r"(?:\s[^<>]{0,500})?/?>|<!doctype html",
    re.IGNORECASE,
)
# The beginning of a JSON object, or of a list of them.
_JSON = re.compile(r'\ufeff?\s*(\[\s*)?\{\s*"')
# The header of a table, and a row with the same separator.
_TABLE = re.compile(r'\ufeff?"?\w+"?(?P<separator>[,;\t])"?\w+"?(?:(?P=separator)"?\w+"?)*\r?\n[^\n]*(?P=separator)')
# The time of a subtitle.
CUE = re.compile(r"^(?:\d{1,2}:)?\d{1,2}:\d{2}[.,]\d{3}\s*-->", re.MULTILINE)
# A line of several words with a hyphen at its end, inside a word.
_DIVIDED = re.compile(r"^[^\n]*\s\S*[^\W\d_][-\u00ad\u2010][^\S\n]*\n[^\S\n]*(?=[a-z])", re.MULTILINE)
_FILE_NAME = re.compile(
    r"\s*\S{1,200}\.(?:txt|html?|md|csv|tsv|parquet|jsonl?|jsonl\.gz|rs[34]|dis|pdf|docx?)\s*", re.IGNORECASE
)
# A text about HTML may name a tag or two, and lines may end with the hyphen of a compound.
FEWEST_TAGS, FEWEST_DIVIDED, SHARE_DIVIDED = 5, 3, 0.1


def text_warnings(text: str, language: str = ENGLISH) -> tuple[str, ...]:
    """Return reasons to doubt a text, one line each.

    Args:
        text: Any string; its first 5,000 characters are checked.
        language: ISO 639-1 code of the expected language; empty if it is not known.
    """
    beginning, found = text[:MOST_CHARACTERS], []
    tags = len(_TAG.findall(beginning))
    if tags >= FEWEST_TAGS:
        remedy = 'read it with --input html (Python: input="html")'
        found.append(f"expected text, got what looks like HTML ({tags} tags); {remedy}")
    elif beginning.lstrip("\ufeff \t\r\n").startswith(("<?xml", "<rst>")):
        found.append("expected text, got what looks like XML; a tree file is recognised by its ending, .rs3 or .rs4")
    elif beginning.lstrip("\ufeff").startswith("{\\rtf"):
        found.append("expected text, got what looks like RTF; save it as plain text first")
    elif len(CUE.findall(beginning)) > 1:
        found.append("expected text, got what looks like subtitles; remove the times first, and join the lines")
    elif _FILE_NAME.fullmatch(text):
        found.append("expected text, got what looks like the name of a file; read the file first")
    elif _JSON.match(beginning):
        found.append("expected text, got what looks like JSON; a file is read as such if it ends in .json or .jsonl")
    elif _TABLE.match(beginning):
        found.append("expected text, got what looks like a table; a file is read as such if it ends in .csv or .tsv")
    divided = len(_DIVIDED.findall(beginning))
    if divided >= max(FEWEST_DIVIDED, SHARE_DIVIDED * beginning.count("\n")):
        message = f"expected whole words, got {divided} lines that end in a hyphen, as in text copied from a PDF"
        found.append(f"{message}; join those that are divided first")
    other = _other_language(_TAG.sub(" ", beginning), language)
    if other:
        found.append(f"expected the language {language!r}, got what looks like {other!r}; do not trust the result")
    return tuple(found)


def emptiness(text: str) -> str:
    """Return a warning about a text with nothing but white space, otherwise an empty string."""
    return "" if text.strip() else "expected some text, got none; its result is empty"


def _other_language(text: str, language: str) -> str:
    """Return the code of a text's language if it is surely not `language`, otherwise an empty string."""
    words = _WORD.findall(text.lower())
    letters = " ".join(words)
    if not language or len(letters.encode("utf-8", "replace")) < FEWEST_BYTES:
        return ""
    if language == ENGLISH and sum(word in FUNCTION_WORDS for word in words) >= ENGLISH_SHARE * len(words):
        return ""
    detector = _detector()
    if detector is None or language not in detector.nb_classes:
        return ""
    code, confidence = detector.classify(letters)
    return str(code) if code != language and confidence >= SURE else ""


@cache
def _detector() -> LanguageIdentifier | None:
    """Return the language identifier; None, with a warning, if there is no place for its temporary file."""
    from py3langid.langid import MODEL_FILE, LanguageIdentifier

    try:
        return LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)
    except OSError as error:
        message = f"expected a temporary folder that can be written, got: {error}; languages of texts are not checked"
        warnings.warn(message, InputWarning, stacklevel=2)
        return None
