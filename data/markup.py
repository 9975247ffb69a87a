"""Texts of files and of rows, whatever markup they are written in."""

from __future__ import annotations

from discsum.byte_order_marks import marked_encoding
from discsum.constants import AUTO, DECLARED, TEXT
from discsum.data.encodings import decode

# What a file is written in by its ending; text with all others.
ENDINGS = {".md": "markdown", ".markdown": "markdown", ".html": "html", ".htm": "html"}


def markup_of(input: str, suffix: str = "") -> str:
    """Return `input`, or what the ending of a file says if that is `auto`."""
    return ENDINGS.get(suffix.lower(), TEXT) if input == AUTO else input


def read_text(content: bytes, markup: str, encoding: str, source: str, remedy: str) -> str:
    """Return the text of a file.

    Args:
        content: Bytes of the file.
        markup: What it is written in: `text`, `markdown`, `html`.
        encoding: Name of the encoding; with `declared`, what a byte order mark or HTML declares, and UTF-8 otherwise.
        source: File name for errors.
        remedy: What errors about the encoding tell the user to do.

    Raises:
        InputError: Bytes that the encoding does not allow, or HTML or Markdown that cannot be read.
        MissingExtraError: The extra `web` is not installed.
    """
    if encoding == DECLARED:
        encoding = marked_encoding(content) or "utf-8"
        if markup == "html":
            from discsum.markup.html import declared_encoding

            encoding = declared_encoding(content)
    return without_markup(decode(content, encoding, source, remedy=remedy), markup)


def without_markup(text: str, markup: str) -> str:
    """Return the text of `text`, which is written in `markup`, as `discsum.markup.to_text` does."""
    if markup == TEXT:
        return text
    # Most runs read no markup.
    from discsum.markup import to_text

    return to_text(text, markup)
