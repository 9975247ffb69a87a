"""Warnings about texts that are empty, are not in the parser's language, or are markup."""

from __future__ import annotations

import re
import unicodedata
from functools import cache
from typing import TYPE_CHECKING

from discsum.errors import warn_caller
from discsum.layout_patterns import CUE
from discsum.writing import FUNCTION_WORDS

if TYPE_CHECKING:
    from py3langid.langid import LanguageIdentifier

ENGLISH = "en"
# Characters at the beginning of a text that are checked, fewest bytes of letters for detecting the language, and the
# confidence that the detector must have.
MOST_CHARACTERS, FEWEST_BYTES, SURE = 5000, 20, 0.8
# Texts with this share of function words are English: the lowest share among 507 news articles and documents of GUM was
# .19. Only other texts need the detector, which takes a second to load.
ENGLISH_SHARE = 0.15
_WORD = re.compile(r"[^\W\d_]+")
_TAG = re.compile(
    r"</?(?:html|head|body|div|span|p|br|a|img|ul|ol|li|table|tr|td|h[1-6]|script|style|meta|link|section|article)"
    r"(?:\s[^<>]{0,500})?/?>|<!doctype html",
    re.IGNORECASE,
)
# A link and bold words in Markdown, each within a line. Headings of Markdown are understood in any text.
_MARKDOWN = re.compile(
    r"\[[^\]\n]{1,300}\]\((?:https?:|/|#)[^)\n]{1,500}\)"
    r"|(?<!\w)\*\*\w[^*:\n]{1,300}(?<![:\s])\*\*(?![\w:])"
)
_FRONT_MATTER = re.compile(r"\A\ufeff?---[ \t]*\r?\n(?:[\w-]{1,50}:[^\n]*\n|[ \t][^\n]*\n){1,50}---[ \t]*\r?\n")
_ENTITY = re.compile(r"&(?:amp|lt|gt|quot|nbsp|[mn]dash|[lr][sd]quo|hellip|#\d{2,5}|#x[0-9A-Fa-f]{2,5});")
_XML = re.compile(r"\A[\ufeff \t\r\n]*<(?:\?xml|rst>)")
# A discourse tree, as in RST-DT or of other parsers, or a syntax tree.
_BRACKETS = re.compile(r"\A[\ufeff \t\r\n]*\(\s*(?:Root|ROOT|TOP|S|N[NS]|SN|Nucleus|Satellite)(?:-[\w-]{1,40})?\s*\(")
# UTF-16 that was decoded as UTF-8.
_NULS = re.compile(r"\A\s*(?:[^\0]\0|\0[^\0]){4}")
_RTF = re.compile(r"\A\ufeff*\{\\rtf")
# The beginning of a JSON object, or of a list of them.
_JSON = re.compile(r'\A\ufeff?\s*(\[\s*)?\{\s*"')
# The header of a table, and a row with the same separator.
_TABLE = re.compile(r'\A\ufeff?"?\w+"?(?P<separator>[,;\t])"?\w+"?(?:(?P=separator)"?\w+"?)*\r?\n[^\n]*(?P=separator)')
# A line of several words with a hyphen at its end, inside a word.
_DIVIDED = re.compile(r"^[^\n]*\s\S*[^\W\d_][-\u00ad\u2010][^\S\n]*\n[^\S\n]*(?=[a-z])", re.MULTILINE)
_FILE_NAME = re.compile(
    r"\A\s*\S{1,200}\.(?:(?:csv|tsv|jsonl|ndjson)(?:\.(?:gz|bz2|xz|zst))?|txt|html?|md|parquet|json|rs[34]|dis|pdf|docx?)\s*\Z",
    re.IGNORECASE,
)
# What a text looks like: fewest matches of a pattern, and the advice; the first that applies is told. A text about HTML
# may name a tag or two.
_MARKUP = (
    (_TAG, 5, 'looks like HTML ({count} tags); read it with --input html (Python: input="html")'),
    (_XML, 1, "looks like XML; a tree file is recognised by its ending, .rs3 or .rs4"),
    (_BRACKETS, 1, "looks like a tree in brackets; one in the form of RST-DT is recognised by its ending, .dis"),
    (_NULS, 1, "looks like UTF-16 without a byte order mark; name its encoding, such as --encoding utf-16-le"),
    (_RTF, 1, "looks like RTF; save it as plain text first"),
    (CUE, 2, "looks like subtitles; remove the times first, and join the lines"),
    (_FILE_NAME, 1, "looks like the name of a file; read the file first"),
    (_FRONT_MATTER, 1, 'looks like Markdown; read it with --input markdown (Python: input="markdown")'),
    (_MARKDOWN, 2, 'looks like Markdown; read it with --input markdown (Python: input="markdown")'),
    (_ENTITY, 3, "looks like a part of HTML, with {count} references such as &amp;; replace these by characters first"),
    (_JSON, 1, "looks like JSON; a file is read as such if it ends in .json or .jsonl"),
    (_TABLE, 1, "looks like a table; a file is read as such if it ends in .csv or .tsv"),
)
# Lines may end with the hyphen of a compound.
FEWEST_DIVIDED, SHARE_DIVIDED = 3, 0.1


def text_warnings(text: str, language: str = ENGLISH) -> tuple[str, ...]:
    """Return reasons to doubt a text, one line each.

    Args:
        text: Any string; its first 5,000 characters are checked.
        language: ISO 639-1 code of the expected language; empty if it is not known.
    """
    if not text.strip():
        return ("expected some text, got none; its result is empty",)
    beginning, found = text[:MOST_CHARACTERS], []
    for pattern, fewest, advice in _MARKUP:
        count = len(pattern.findall(beginning))
        if count >= fewest:
            found.append(f"expected text, got what {advice.format(count=count)}")
            break
    divided = len(_DIVIDED.findall(beginning))
    if divided >= max(FEWEST_DIVIDED, SHARE_DIVIDED * beginning.count("\n")):
        message = f"expected whole words, got {divided} lines that end in a hyphen, as in text copied from a PDF"
        found.append(f"{message}; join those that are divided first")
    other = _other_language(_TAG.sub(" ", beginning), language)
    if other:
        found.append(f"expected the language {language!r}, got what looks like {other!r}; do not trust the result")
    return tuple(found)


def _other_language(text: str, language: str) -> str:
    """Return the code of a text's language if it is surely not `language`, otherwise an empty string."""
    # Letters of mathematical fonts are those of the alphabet.
    words = _WORD.findall(unicodedata.normalize("NFKC", text).lower())
    letters = " ".join(words)
    if not language or len(letters.encode("utf-8", "replace")) < FEWEST_BYTES:
        return ""
    if language == ENGLISH and sum(word in FUNCTION_WORDS for word in words) >= ENGLISH_SHARE * len(words):
        return ""
    detector = _detector()
    if detector is None or language not in detector.nb_classes:
        return ""
    code, confidence = detector.classify(letters)
    # Languages of the same script are confused in short texts.
    foreign = language == ENGLISH and sum(map(str.isascii, letters)) < 0.5 * len(letters)
    return str(code) if code != language and (confidence >= SURE or foreign) else ""


@cache
def _detector() -> LanguageIdentifier | None:
    """Return the language identifier; None, with a warning, if there is no place for its temporary file."""
    from py3langid.langid import MODEL_FILE, LanguageIdentifier

    try:
        return LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)
    except OSError as error:
        message = f"expected a temporary folder that can be written, got: {error}; languages of texts are not checked"
        warn_caller(message)
        return None
