"""Byte order marks: first bytes of a file that name its encoding."""

from __future__ import annotations

import codecs

# The marks of UTF-32 first: one of them begins with a mark of UTF-16.
MARKS = {
    codecs.BOM_UTF32_LE: "utf-32",
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
    codecs.BOM_UTF8: "utf-8",
}


def marked_encoding(content: bytes) -> str | None:
    """Return the encoding that a byte order mark at the beginning of a file names; None without one."""
    return next((name for mark, name in MARKS.items() if content.startswith(mark)), None)
