"""Read texts of files and table rows in any supported markup."""

from __future__ import annotations

from discsum.byte_order_marks import marked_encoding
from discsum.constants import AUTO, DECLARED, TEXT
from discsum.data.encodings import decode

# Markup of a file by its ending; files with other endings are plain text.
ENDINGS = {".md": "markdown", ".markdown": "markdown", ".html": "html", ".htm": "html"}


def markup_of(input: str, suffix: str = "") -> str:
    """Return `input`, or the markup for a file's ending if `input` is `auto`."""
    return ENDINGS.get(suffix.lower(), TEXT) if input == AUTO else input


def read_text(content: bytes, markup: str, encoding: str, source: str, remedy: str) -> str:
    """Return the text of a file.

    Args:
        content: Bytes of the file.
        markup: Markup of the file: `text`, `markdown`, `html`.
        encoding: Name of the encoding; with `declared`, what a byte order mark or HTML declares, and otherwise UTF-8.
        source: File name for errors.
        remedy: Advice to the user in errors about the encoding.

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
    """Return a text without its markup; see `discsum.markup.to_text`."""
    if markup == TEXT:
        return text
    # Imported here, because most runs read no markup.
    from discsum.markup import to_text

    return to_text(text, markup)
