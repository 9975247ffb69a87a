"""Texts of files, decoded: errors name the byte that the encoding does not allow."""

from __future__ import annotations

import codecs

from discsum.errors import InputError

# Remedies for bytes of another encoding: in commands with the option --encoding, and in all others.
NAME_IT, CONVERT = "name the file's encoding with --encoding", "save the file as UTF-8 first, as iconv does"

# Encodings of either order of bytes: what their files begin with.
_MARKS = {name: (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE) for name in ("utf-16", "utf16", "u16")} | {
    name: (codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE) for name in ("utf-32", "utf32", "u32")
}


def check_encoding(name: str) -> None:
    """Raise `InputError` unless this is the name of an encoding of texts."""
    try:
        "text".encode(name)
    except (LookupError, UnicodeError) as error:
        raise InputError(f"expected the name of a text encoding, got {name!r}") from error


def decode(content: bytes, encoding: str, source: str, offset: int = 0, remedy: str = CONVERT) -> str:
    """Return the decoded text of a file, unchanged but for a byte order mark, which is removed.

    Args:
        content: Bytes of the file, or a part of them.
        encoding: Name of the encoding.
        source: File name for errors.
        offset: Position of the bytes in the file.
        remedy: What errors tell the user to do.

    Raises:
        InputError: No such encoding, or bytes that it does not allow; the message has the offset of the first.
    """
    mark = _MARKS.get(encoding.lower().replace("_", "-"))
    if mark and content and not offset and not content.startswith(mark):
        # Without it Python takes the machine's own order of bytes, and almost any bytes are letters of some script.
        raise InputError(
            f"{source}: expected {encoding} with its byte order mark, got none; {remedy}, or {encoding}-le or "
            f"{encoding}-be as the encoding of a file without one"
        )
    try:
        text = content.decode(encoding)
    except UnicodeDecodeError as error:
        raise InputError(
            f"{source}: expected {encoding}, got byte 0x{content[error.start]:02x} at offset {offset + error.start}; "
            f"{remedy}"
        ) from error
    except (LookupError, UnicodeError) as error:
        # Some encodings, as idna, name no byte.
        check_encoding(encoding)
        raise InputError(f"{source}: expected {encoding}, got bytes that are not: {error}; {remedy}") from error
    return text if offset else text.removeprefix("\ufeff")
