"""Decode texts of files, with errors that name the invalid byte and its offset."""

from __future__ import annotations

import codecs

from discsum.byte_order_marks import MARKS
from discsum.errors import InputError

# Remedies for bytes of another encoding: in commands with the option --encoding, and in all others.
NAME_IT, CONVERT = "name the file's encoding with --encoding", "convert the file to UTF-8 first, for example with iconv"

# Encodings that allow both byte orders.
_EITHER_ORDER = ("utf-16", "utf-32")

# How files begin that are no text but are often given instead of one.
_KINDS = {
    b"\x1f\x8b": "a gzip file",
    b"BZh": "a bzip2 file",
    b"\xfd7zXZ": "an xz file",
    b"(\xb5/\xfd": "a Zstandard file",
    b"%PDF": "a PDF file",
    b"PK\x03\x04": "a zip file, as .docx is",
}


def check_encoding(name: str) -> None:
    """Raise `InputError` unless `name` is a text encoding."""
    try:
        "text".encode(name)
    except (LookupError, UnicodeError) as error:
        raise InputError(f"expected the name of a text encoding, got {name!r}") from error


def needs_mark(encoding: str) -> bool:
    """Return whether files in an encoding begin with a byte order mark, which tells one of two orders."""
    return canonical(encoding) in _EITHER_ORDER


def check_mark(beginning: bytes, encoding: str, source: str, remedy: str = CONVERT) -> None:
    """Raise `InputError` if an encoding needs a byte order mark and a file, given its first bytes, has none.

    Without a mark, Python assumes the machine's byte order, and the wrong order rarely raises an error: almost any
    bytes are letters of some script.
    """
    name = canonical(encoding)
    marks = tuple(mark for mark, marked in MARKS.items() if marked == name)
    if name in _EITHER_ORDER and beginning and not beginning.startswith(marks):
        raise InputError(
            f"{source}: expected {encoding} with a byte order mark, got none; {remedy}, or use {name}-le or {name}-be "
            "as the encoding of a file without one"
        )


def canonical(encoding: str) -> str:
    """Return Python's own name of an encoding, such as `utf-16` for `U16`; an unknown name unchanged."""
    try:
        return codecs.lookup(encoding).name
    except LookupError:
        return encoding


def decode(content: bytes, encoding: str, source: str, offset: int = 0, remedy: str = CONVERT) -> str:
    """Return the decoded text of a file without its byte order mark, but otherwise unchanged.

    Args:
        content: Bytes of the file, or a part of them.
        encoding: Name of the encoding.
        source: File name for errors.
        offset: Position of the bytes in the file.
        remedy: Advice to the user in errors.

    Raises:
        InputError: No such encoding, or invalid bytes; the message has the offset of the first.
    """
    if not offset:
        check_mark(content, encoding, source, remedy)
    if not offset and content[257:262] == b"ustar":
        # Its padding and the texts in it can be decoded.
        raise InputError(f"{source}: expected {encoding}, got a tar archive; unpack it first")
    try:
        text = content.decode(encoding)
    except UnicodeDecodeError as error:
        for beginning, kind in _KINDS.items():
            if not offset and content.startswith(beginning):
                raise InputError(
                    f"{source}: expected {encoding}, got {kind}; unpack it, or convert it to text"
                ) from error
        raise InputError(
            f"{source}: expected {encoding}, got byte 0x{content[error.start]:02x} at offset {offset + error.start}; "
            f"{remedy}"
        ) from error
    except (LookupError, UnicodeError) as error:
        # Some encodings, such as idna, do not report which byte is invalid.
        check_encoding(encoding)
        raise InputError(
            f"{source}: expected {encoding}, got bytes that cannot be decoded: {error}; {remedy}"
        ) from error
    return text if offset else text.removeprefix("\ufeff")
